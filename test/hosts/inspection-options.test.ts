import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Decision, type ObservedRequest, SallyportError } from '@sallyport/core'
import type { Sallyport } from 'sallyport'
import t, { type Test } from 'tap'
import { type AnyOptions, HOSTS, type Host } from './hosts.ts'
import { exchange, parseResponse, requestBytes, upgrade, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* `inspection(sallyport, options)` is one type: each option does the same in every host. */
const SHAPED = HOSTS.filter(({ hasNoOptions }) => !hasNoOptions)
const RULES = [
  { id: 'mallory', match: { user: ['mallory'] }, action: 'block' as const },
  { id: 'free', match: { plan: ['free'], path: ['/paid'] }, action: 'block' as const },
]
const HOME = '73.162.10.20'

const opened = (t: Test, observe?: (observed: ObservedRequest) => void): Promise<Sallyport> =>
  openWithoutData(t, { policy: { preset: 'observe', rules: RULES } }, observe && { observe })

type Ask = (path?: string, ...fields: readonly string[]) => Promise<WireResponse>

async function asking(t: Test, host: Host, sallyport: Sallyport, options: AnyOptions): Promise<Ask & { port: number }> {
  const running = await host.start(sallyport, '', options)
  t.teardown(() => running.close())
  const ask: Ask = async (path = '/shop', ...fields) => {
    const sent = ['X-Forwarded-For', HOME, 'User-Agent', 'Mozilla/5.0', 'Connection', 'close', ...fields]
    return parseResponse(await exchange(running.port, requestBytes('GET', path, sent)))
  }
  return Object.assign(ask, { port: running.port })
}

const everyHost = (name: string, check: (t: Test, host: Host, sallyport: Sallyport) => Promise<void>) =>
  t.test(name, async (t) => {
    const sallyport = await opened(t)
    for (const host of SHAPED) await t.test(host.name, (t) => check(t, host, sallyport))
  })

const nobody: AnyOptions['policy'] = [{ id: 'nobody', match: {}, action: 'block' }]

everyHost('policy and mode are those of the mount', async (t, host, sallyport) => {
  const closed = await asking(t, host, sallyport, { policy: nobody })
  const watching = await asking(t, host, sallyport, { policy: nobody, mode: 'monitor' })
  const plain = await asking(t, host, sallyport, {})
  t.equal((await closed()).status, 403)
  t.hasStrict(JSON.parse((await watching()).body).headers, {
    'sallyport-action': 'block',
    'sallyport-enforced': 'false',
  })
  t.hasStrict(JSON.parse((await plain()).body).headers, { 'sallyport-action': 'allow' })
})

everyHost(
  'rules of a mount count, and a throttled client reads what the application renders',
  async (t, host, sallyport) => {
    const limit = { key: 'client' as const, max: 1, window: '1h' }
    const ask = await asking(t, host, sallyport, {
      policy: [{ id: `one-${SHAPED.indexOf(host)}`, match: {}, action: 'throttle', limit }],
      respond: () => ({ body: 'Later.' }),
    })
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
    const ask = await asking(t, host, sallyport, {
      identify: () => identity,
      onDecision: (decision) => void seen.push(decision),
    })
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
  const silent = await asking(t, host, sallyport, {
    policy: nobody,
    respond(decision) {
      asked.push(decision.action)
      return undefined
    },
  })
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
  const failed: string[] = []
  const fails = (name: string) => () => {
    throw new Error(name)
  }
  const ask = await asking(t, host, sallyport, {
    policy: nobody,
    skip: fails('skip'),
    identify: fails('identify'),
    onDecision: fails('onDecision'),
    respond: fails('respond'),
    onError: (error) => void failed.push((error as Error).message),
  })
  t.equal((await ask()).status, 403)
  t.same(failed.sort(), ['identify', 'onDecision', 'respond', 'skip'])
  failed.length = 0
  const later = await asking(t, host, sallyport, {
    policy: nobody,
    onDecision: async () => fails('onDecision')(),
    respond: async () => fails('respond')(),
    onError: (error) => void failed.push((error as Error).message),
  })
  t.equal((await later()).status, 403)
  t.same(failed.sort(), ['onDecision', 'respond'])
  for (const answer of [{ status: 99, body: '' }, { body: '', headers: { 'x-a': 'a\nb' } }, { body: 7 as never }]) {
    failed.length = 0
    const bad = await asking(t, host, sallyport, {
      policy: nobody,
      respond: () => answer,
      onError: (error) => void failed.push(String(error)),
    })
    t.equal((await bad()).status, 403)
    t.equal(failed.length, 1, failed.join())
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

function upgradeBytes(): string {
  const fields = ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', '13']
  return requestBytes('GET', '/socket', [...fields, 'Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='])
}

everyHost('an upgrade that waits for a claim goes on with its record', async (t, host, sallyport) => {
  const { port } = await asking(t, host, sallyport, { provenance: { claim: () => 'US' } })
  const { socket, head } = await upgrade(port, upgradeBytes())
  t.teardown(() => socket.destroy())
  const seen = JSON.parse(Buffer.from(parseResponse(head).headers['x-seen'] ?? '', 'base64').toString())
  t.match(seen.headers['sallyport-attestation-id'], /^\d+$/)
})

t.test('the user is in the decision log', async (t) => {
  const observed: ObservedRequest[] = []
  const sallyport = await opened(t, (request) => void observed.push(request))
  const [host] = SHAPED
  if (host === undefined) throw new SallyportError('internal_error')
  const ask = await asking(t, host, sallyport, { identify: () => ({ user: 'alice', plan: 'pro' }) })
  await ask()
  sallyport.drain()
  t.match(observed[0]?.decision?.inspection, { user: 'alice', plan: 'pro' })
})
