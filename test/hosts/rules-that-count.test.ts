import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { type Address, parseAddress } from '@sallyport/core'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import { NO_REDIS, startRedis } from '@sallyport/engine/testing'
import { listener } from '@sallyport/node'
import t, { type Test } from 'tap'
import { HOSTS, type Host, type RunningHost } from './hosts.ts'
import { exchange, parseResponse, requestBytes, upgrade, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Answers to visitors under counting rules, in every host and with every place of the counts: in memory, in the dataDir, in Redis. */
type RuleInput = NonNullable<NonNullable<ConfigInput['policy']>['rules']>[number]

const LOGINS = {
  id: 'logins',
  match: { path: ['/login'] },
  limit: { key: 'client', max: 3, window: '1h', kind: 'fixed' },
  action: 'throttle',
} satisfies RuleInput
const FAILURES = {
  ...LOGINS,
  id: 'failures',
  match: { path: ['/right'] },
  limit: { key: 'client', max: 3, window: '1h', count: 'failure' },
} satisfies RuleInput
/** The site behind every host answers with 200, which is a failure here. */
const WRONG = { ...FAILURES, id: 'wrong', match: { path: ['/wrong'] }, limit: { ...FAILURES.limit, failures: [200] } }
/** And with JSON, which is no page; a host that did not tell its type would count each. */
const PAGES = {
  ...LOGINS,
  id: 'pages',
  match: { path: ['/paged'] },
  limit: { key: 'client', max: 3, window: '1h', count: 'page' },
} satisfies RuleInput
const POLICY = {
  preset: 'observe',
  rules: [
    LOGINS,
    FAILURES,
    WRONG,
    PAGES,
    { id: 'few-open', match: { path: ['/export'] }, concurrent: 1, action: 'block' },
  ],
} satisfies ConfigInput['policy']

const PLACES: Readonly<Record<string, (t: Test) => Promise<Partial<ConfigInput>>>> = {
  memory: async () => ({ counting: { place: 'memory' } }),
  dataDir: async () => ({ counting: { place: 'dataDir' } }),
  Redis: async (t) => ({ redis: (await startRedis(t)).url, timeouts: { counting: '5s' } }),
}

async function ask(
  at: RunningHost,
  address: string,
  target: string,
  more: readonly string[] = [],
): Promise<WireResponse> {
  const fields = ['X-Forwarded-For', address, 'Connection', 'close', ...more]
  return parseResponse(await exchange(at.port, requestBytes('GET', target, fields)))
}

for (const [place, config] of Object.entries(PLACES)) {
  t.test(`counts in ${place}`, { skip: place === 'Redis' && NO_REDIS }, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY, ...(await config(t)) })
    for (const [index, host] of HOSTS.entries()) {
      await t.test(host.name, (t) => checkHost(t, host, sallyport, `8.1.${index}`))
    }
  })
}

async function checkHost(t: Test, host: Host, sallyport: Sallyport, network: string): Promise<void> {
  const at = await host.start(sallyport, '')
  t.teardown(() => at.close())
  const answers: WireResponse[] = []
  for (let call = 0; call < 5; call++) answers.push(await ask(at, `${network}.1`, '/login'))
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 429, 429],
  )
  t.same(
    answers.map(({ headers }) => headers['ratelimit']?.replace(/;t=.*/, '')),
    ['"default";r=2', '"default";r=1', '"default";r=0', '"default";r=0', '"default";r=0'],
  )
  const [first, , , refused] = answers
  t.equal(first?.headers['retry-after'], undefined)
  t.equal(first?.headers['ratelimit-policy'], '"default";q=3;w=3600')
  const wait = Number(refused?.headers['retry-after'])
  t.ok(wait > 3_500 && wait <= 3_600, `${wait} seconds`)
  t.equal(refused?.headers['ratelimit'], `"default";r=0;t=${wait}`)
  const body: unknown = JSON.parse(refused?.body ?? '')
  t.match(body, { error: 'rate_limit_exceeded', details: { requestId: refused?.headers['x-request-id'] } })
  t.notMatch(refused?.body, 'logins', 'the rule is not told')
  const page = await ask(at, `${network}.1`, '/login', ['Accept', 'text/html'])
  t.same([page.status, page.headers['content-type']?.slice(0, 9)], [429, 'text/html'])
  const reader = await ask(at, `${network}.1`, '/login', ['Accept', '*/*', 'User-Agent', 'ELinks/0.16.1.1 (textmode)'])
  t.match(reader, { status: 429, body: '<title>Too many requests</title>' })

  t.equal((await ask(at, `${network}.2`, '/login')).status, 200, 'another visitor')
  const elsewhere = await ask(at, `${network}.1`, '/elsewhere')
  t.same([elsewhere.status, elsewhere.headers['ratelimit']], [200, undefined])

  const fields = ['X-Forwarded-For', `${network}.1`, 'Connection', 'Upgrade', 'Upgrade', 'websocket']
  const handshake = ['Sec-WebSocket-Version', '13', 'Sec-WebSocket-Key', 'AAAAAAAAAAAAAAAAAAAAAA==']
  const { socket, head } = await upgrade(at.port, requestBytes('GET', '/login', [...fields, ...handshake]))
  t.match(head, /^HTTP\/1\.1 429 /, 'an upgrade counts like any request')
  socket.destroy()

  for (let call = 0; call < 3; call++) {
    t.equal((await ask(at, `${network}.1`, '/export')).status, 200, 'what has ended is in flight no more')
  }

  for (let call = 0; call < 9; call++) {
    t.equal((await ask(at, `${network}.1`, '/paged')).status, 200, 'what is no page does not count')
  }
  const [right, wrong]: [WireResponse[], WireResponse[]] = [[], []]
  for (let call = 0; call < 9; call++) right.push(await ask(at, `${network}.1`, '/right'))
  for (let call = 0; call < 5; call++) wrong.push(await ask(at, `${network}.1`, '/wrong'))
  t.same([...new Set(right.map(({ status }) => status))], [200], 'no failure')
  t.same(
    wrong.map(({ status, headers }) => [status, headers['ratelimit'] !== undefined]),
    [...Array(3).fill([200, false]), ...Array(2).fill([429, true])],
    'failures, and no word of how many are left',
  )
}

t.test('/v1 tells of its own limits alone, also behind a rule that counts everything', async (t) => {
  const all = { id: 'all', match: {}, limit: { key: 'client', max: 100, window: '1h' }, action: 'throttle' } as const
  const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: [all] } })
  for (const host of HOSTS) {
    const at = await host.start(sallyport, '')
    const { headers } = await ask(at, '8.3.0.1', '/v1/myip')
    t.ok(headers['x-ratelimit-limit'], host.name)
    t.same([headers['ratelimit'], headers['ratelimit-policy']], [undefined, undefined], host.name)
    await at.close()
  }
})

t.test('agentscan/check never counts', async (t) => {
  const all = { id: 'all', match: {}, limit: { key: 'client', max: 1, window: '1h' }, action: 'throttle' } as const
  const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: [all] } })
  const address = parseAddress('8.8.8.8') as Address
  for (let call = 0; call < 3; call++) {
    const { action } = await sallyport.check(address, { fields: [], headersKnown: false })
    t.equal(action, 'allow')
  }
})

t.test('while Redis is away a share is counted here, and decisions say so', { skip: NO_REDIS }, async (t) => {
  const redis = await startRedis(t)
  const seen: unknown[] = []
  const faults: unknown[] = []
  const sallyport = await openWithoutData(
    t,
    { redis: redis.url, policy: POLICY },
    { onFault: (error) => faults.push(error), observe: ({ decision }) => seen.push(decision?.inspection.degraded) },
  )
  const [node] = HOSTS as readonly [Host]
  const at = await node.start(sallyport, '')
  t.teardown(() => at.close())
  const outages = [
    ['8.6.0.1', () => redis.freeze(), () => redis.thaw()],
    ['8.6.0.2', () => redis.stop(), () => redis.restart()],
  ] as const
  for (const [address, begin, end] of outages) {
    await begin()
    seen.length = 0
    const statuses = []
    for (let call = 0; call < 4; call++) statuses.push((await ask(at, address, '/login')).status)
    t.same(statuses, [200, 429, 429, 429], 'half of three, rounded down')
    sallyport.drain()
    t.ok(seen.length > 0 && seen.every((degraded) => Array.isArray(degraded) && degraded.includes('limits')))
    // One late answer is no outage: a store that answers no request for a second is away.
    for (let call = 0; faults.length === 0 && call < 500; call++) await ask(at, address, '/login')
    t.ok(faults.length > 0)
    await end()
  }
})

t.test('a request in flight is counted until its answer ends, and when its client leaves', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const answer = listener(sallyport, (req, res) => void (req.headers['x-wait'] === undefined && res.end()))
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const at = { port: (server.address() as { port: number }).port, close: async () => {} }
  const waiting = connect(at.port, '127.0.0.1')
  waiting.write(requestBytes('GET', '/export', ['X-Wait', '1', 'X-Forwarded-For', '8.7.0.1']))
  let status = 200
  while (status === 200) ({ status } = await ask(at, '8.7.0.2', '/export'))
  t.equal(status, 403)
  waiting.destroy()
  while (status !== 200) ({ status } = await ask(at, '8.7.0.2', '/export'))
})
