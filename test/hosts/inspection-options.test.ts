import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Decision, ObservedRequest } from '@sallyport/core'
import type { Sallyport } from 'sallyport'
import t, { type Test } from 'tap'
import { startHost } from './every-host.ts'
import { type AnyOptions, HOSTS, type Host } from './hosts.ts'
import { askAs, exchange, parseResponse, requestBytes, upgrade, WEBSOCKET, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* `inspection(sallyport, options)` is one type: each option does the same in every host. */
const SHAPED = HOSTS.filter(({ hasNoOptions }) => !hasNoOptions)
const RULES = [
  { id: 'mallory', match: { user: ['mallory'] }, action: 'block' as const },
  { id: 'free', match: { plan: ['free'], path: ['/paid'] }, action: 'block' as const },
]
const HOME = '73.162.10.20'

type Ask = (path?: string, ...fields: readonly string[]) => Promise<WireResponse>

async function asking(t: Test, host: Host, sallyport: Sallyport, options: AnyOptions): Promise<Ask & { port: number }> {
  const at = await startHost(t, host, sallyport, options)
  const ask: Ask = (path = '/shop', ...fields) => askAs(at, HOME, path, ['User-Agent', 'Mozilla/5.0', ...fields])
  return Object.assign(ask, { port: at.port })
}

const everyHost = (name: string, check: (t: Test, host: Host, sallyport: Sallyport) => Promise<void>) =>
  t.test(name, async (t) => {
    const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: RULES } })
    for (const host of SHAPED) await t.test(host.name, (t) => check(t, host, sallyport))
  })

const nobody: AnyOptions['policy'] = [{ id: 'nobody', match: {}, action: 'block' }]

everyHost('policy and mode are those of the mount', async (t, host, sallyport) => {
  const closed = await asking(t, host, sallyport, { policy: nobody })
  const watching = await asking(t, host, sallyport, { policy: nobody, mode: 'monitor' })
  const plain = await asking(t, host, sallyport, {})
  t.equal((await closed()).status, 403)
  const watched = { 'sallyport-action': 'block', 'sallyport-enforced': 'false' }
  t.hasStrict(JSON.parse((await watching()).body).headers, watched)
  t.hasStrict(JSON.parse((await plain()).body).headers, { 'sallyport-action': 'allow' })
})

everyHost(
  'rules of a mount count, and who is throttled reads what the application renders',
  async (t, host, service) => {
    const limit = { key: 'client' as const, max: 1, window: '1h' }
    const policy = [{ id: `one-${SHAPED.indexOf(host)}`, match: {}, action: 'throttle' as const, limit }]
    const ask = await asking(t, host, service, { policy, respond: () => ({ body: 'Later.' }) })
    t.equal((await ask()).status, 200)
    const { status, headers, body } = await ask()
    t.same([status, body], [429, 'Later.'])
    t.match(headers['retry-after'], /^\d+$/)
  },
)

everyHost('skip: no verdict, and none that was brought', async (t, host, sallyport) => {
  const ask = await asking(t, host, sallyport, { policy: nobody, skip: () => true })
  const { status, body } = await ask('/health', 'sallyport_action', 'allow')
  t.equal(status, 200)
  t.same(JSON.parse(body), { method: 'GET', target: '/health', fields: [], headers: {} })
})

everyHost('identify: rules match the user and the plan', async (t, host, sallyport) => {
  for (const [identity, path, status] of [
    [{ user: 'mallory' }, '/shop', 403],
    [{ user: 17, plan: 'free' }, '/paid', 403],
    [{ user: 17, plan: 'free' }, '/shop', 200],
    [{ user: '', plan: 'pro' }, '/paid', 200],
    [undefined, '/paid', 200],
  ] as const) {
    const seen: Decision[] = []
    const onDecision = (decision: Decision) => void seen.push(decision)
    const ask = await asking(t, host, sallyport, { identify: () => identity, onDecision })
    t.equal((await ask(path)).status, status, JSON.stringify(identity))
    const { user, plan } = seen[0]?.inspection ?? {}
    t.same([user, plan], [identity?.user ? String(identity.user) : undefined, identity?.plan])
  }
})

everyHost('respond renders a block, at once or later; for nothing the default is sent', async (t, host, sallyport) => {
  const teapot = { status: 418, headers: { 'Content-Type': 'text/html', 'X-Why': 'us' }, body: '<p>No.</p>' }
  for (const respond of [() => teapot, async () => teapot]) {
    const ask = await asking(t, host, sallyport, { policy: nobody, respond })
    const { status, headers, body } = await ask()
    t.same([status, body], [418, '<p>No.</p>'])
    t.hasStrict(headers, { 'content-type': 'text/html', 'x-why': 'us', 'cache-control': 'no-store' })
    t.type(headers['x-request-id'], 'string')
    const refused = parseResponse(await exchange(ask.port, upgradeBytes()))
    t.same([refused.status, refused.body], [418, '<p>No.</p>'], 'an upgrade, too')
  }
  const asked: string[] = []
  const respond = ({ action }: Decision) => void asked.push(action)
  const silent = await asking(t, host, sallyport, { policy: nobody, respond })
  t.equal(JSON.parse((await silent()).body).error, 'request_blocked')
  t.same(asked, ['block'])
})

everyHost('explain names the reasons, in every answer', async (t, host, sallyport) => {
  const open = await asking(t, host, sallyport, { explain: true })
  const closed = await asking(t, host, sallyport, { policy: nobody, explain: true })
  t.match((await open()).headers['sallyport-reasons'], /^policy:default, network:/)
  t.match((await closed()).headers['sallyport-reasons'], /^policy:nobody, network:/)
  const plain = await asking(t, host, sallyport, {})
  t.equal((await plain()).headers['sallyport-reasons'], undefined)
})

everyHost('what a hook throws is reported, and the request goes on without it', async (t, host, sallyport) => {
  /** Asks a host with failing hooks, and returns what was reported. */
  const fail = async (options: AnyOptions): Promise<readonly string[]> => {
    const failed: string[] = []
    const onError = (error: unknown) => void failed.push((error as Error).message)
    const ask = await asking(t, host, sallyport, { policy: nobody, ...options, onError })
    t.equal((await ask()).status, 403)
    return failed.sort()
  }
  const fails = (name: string) => () => {
    throw new Error(name)
  }
  const [skip, identify, onDecision, respond] = ['skip', 'identify', 'onDecision', 'respond'].map(fails)
  t.same(await fail({ skip, identify, onDecision, respond } as AnyOptions), [
    'identify',
    'onDecision',
    'respond',
    'skip',
  ])
  const later = { onDecision: async () => fails('onDecision')(), respond: async () => fails('respond')() }
  t.same(await fail(later), ['onDecision', 'respond'])
  for (const answer of [{ status: 99, body: '' }, { body: '', headers: { 'x-a': 'a\nb' } }, { body: 7 as never }]) {
    t.equal((await fail({ respond: () => answer })).length, 1)
  }
})

everyHost('nothing waits for onDecision', async (t, host, sallyport) => {
  const ask = await asking(t, host, sallyport, { onDecision: () => new Promise(() => {}) })
  t.equal((await ask()).status, 200)
})

everyHost('an option that is none is refused by name', async (t, host, sallyport) => {
  const refused = (options: object, message: RegExp) =>
    t.rejects(async () => host.start(sallyport, '', options), { code: 'invalid_config', message }, String(message))
  await refused({ polcy: nobody }, /no option "polcy"; did you mean "policy"\?/)
  await refused({ skip: '/health' }, /skip must be a function/)
  await refused({ mode: 'Monitor' }, /mode must be enforce or monitor/)
  await refused({ policy: 'observes' }, /policy\.preset/)
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  })
  await refused({ explain: true }, /production forbids it/)
})

everyHost('decisions and refusals are events of diagnostics_channel', async (t, host, sallyport) => {
  const seen: unknown[] = []
  const decisions = (event: unknown) => void seen.push((event as { decision: Decision }).decision.action)
  const refusals = (event: unknown) => void seen.push((event as { status: number }).status)
  subscribe('sallyport.decision', decisions)
  subscribe('sallyport.refusal', refusals)
  t.teardown(() => {
    unsubscribe('sallyport.decision', decisions)
    unsubscribe('sallyport.refusal', refusals)
  })
  const ask = await asking(t, host, sallyport, { identify: () => ({ user: 'mallory' }) })
  await ask()
  const upgraded = parseResponse(await exchange(ask.port, upgradeBytes()))
  t.equal(upgraded.status, 403)
  await ask('/x', 'Content-Length', '1', 'Content-Length', '1')
  t.same(seen.slice(0, 4), ['block', 403, 'block', 403])
})

const upgradeBytes = (): string => requestBytes('GET', '/socket', WEBSOCKET)

everyHost('an upgrade that waits for a claim goes on with its record', async (t, host, sallyport) => {
  const { port } = await asking(t, host, sallyport, { provenance: { claim: () => 'US' } })
  const { socket, head } = await upgrade(port, upgradeBytes())
  t.teardown(() => socket.destroy())
  const seen = JSON.parse(Buffer.from(parseResponse(head).headers['x-seen'] ?? '', 'base64').toString())
  t.match(seen.headers['sallyport-attestation-id'], /^\d+$/)
})

t.test('the user is in the decision log', async (t) => {
  const observed: ObservedRequest[] = []
  const sallyport = await openWithoutData(t, {}, { observe: (request) => void observed.push(request) })
  const ask = await asking(t, SHAPED[0] as Host, sallyport, { identify: () => ({ user: 'alice', plan: 'pro' }) })
  await ask()
  sallyport.drain()
  t.match(observed[0]?.decision?.inspection, { user: 'alice', plan: 'pro' })
})
