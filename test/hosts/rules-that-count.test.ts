import { connect } from 'node:net'
import { type Address, parseAddress } from '@sallyport/core'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import { NO_REDIS, startRedis } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { everyHost, startHost } from './every-host.ts'
import { HOSTS, type Host } from './hosts.ts'
import { COUNTS, SERVERS } from './places.ts'
import { askAs, requestBytes, upgrade, WEBSOCKET, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Answers to visitors under counting rules, in every host and with every place of the counts: in memory, in the dataDir, in Redis. */
const FEW = { key: 'client', max: 3, window: '1h' } as const
/** The site behind every host answers with 200 and JSON: a failure for one rule, a success for another, and a page for none. */
const POLICY = {
  preset: 'observe',
  rules: [
    { id: 'logins', match: { path: ['/login'] }, limit: { ...FEW, kind: 'fixed' }, action: 'throttle' },
    { id: 'failures', match: { path: ['/right'] }, limit: { ...FEW, count: 'failure' }, action: 'throttle' },
    {
      id: 'wrong',
      match: { path: ['/wrong'] },
      limit: { ...FEW, count: 'failure', failures: [200] },
      action: 'throttle',
    },
    { id: 'pages', match: { path: ['/paged'] }, limit: { ...FEW, count: 'page' }, action: 'throttle' },
    { id: 'few-open', match: { path: ['/export'] }, concurrent: 1, action: 'block' },
  ],
} satisfies ConfigInput['policy']

/** A rule that counts every request. */
const counting = (max: number): ConfigInput['policy'] => ({
  preset: 'observe',
  rules: [{ id: 'all', match: {}, limit: { key: 'client', max, window: '1h' }, action: 'throttle' }],
})

for (const { place, skip, config } of COUNTS) {
  t.test(`counts in ${place}`, { skip }, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY, ...(await config(t)) })
    for (const [index, host] of HOSTS.entries()) {
      await t.test(host.name, (t) => checkHost(t, host, sallyport, `8.1.${index}`))
    }
  })
}

async function checkHost(t: Test, host: Host, sallyport: Sallyport, network: string): Promise<void> {
  const at = await startHost(t, host, sallyport)
  const ask = (target: string, more: readonly string[] = []) => askAs(at, `${network}.1`, target, more)
  const repeat = async (times: number, target: string): Promise<readonly WireResponse[]> => {
    const answers: WireResponse[] = []
    for (let call = 0; call < times; call++) answers.push(await ask(target))
    return answers
  }
  const answers = await repeat(5, '/login')
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
  t.notMatch(refused?.body, 'logins', 'the answer does not name the rule')
  const page = await ask('/login', ['Accept', 'text/html'])
  t.same([page.status, page.headers['content-type']?.slice(0, 9)], [429, 'text/html'])
  const reader = await ask('/login', ['Accept', '*/*', 'User-Agent', 'ELinks/0.16.1.1 (textmode)'])
  t.match(reader, { status: 429, body: '<title>Too many requests</title>' })

  t.equal((await askAs(at, `${network}.2`, '/login')).status, 200, 'another visitor')
  const elsewhere = await ask('/elsewhere')
  t.same([elsewhere.status, elsewhere.headers['ratelimit']], [200, undefined])

  const handshake = requestBytes('GET', '/login', ['X-Forwarded-For', `${network}.1`, ...WEBSOCKET])
  const { socket, head } = await upgrade(at.port, handshake)
  t.match(head, /^HTTP\/1\.1 429 /, 'an upgrade counts like any request')
  socket.destroy()

  for (const target of ['/export', '/paged', '/right']) {
    const passed = await repeat(9, target)
    t.ok(
      passed.every(({ status }) => status === 200),
      `${target}: has ended, is no page, is no failure`,
    )
  }
  t.same(
    (await repeat(5, '/wrong')).map(({ status, headers }) => [status, headers['ratelimit'] !== undefined]),
    [...Array(3).fill([200, false]), ...Array(2).fill([429, true])],
    'failures, and no word of how many are left',
  )
}

everyHost('/v1 states its own limits alone, also behind a rule for all', { policy: counting(100) }, async (t, at) => {
  const { headers } = await askAs(at, '8.3.0.1', '/v1/myip')
  t.ok(headers['x-ratelimit-limit'])
  t.same([headers['ratelimit'], headers['ratelimit-policy']], [undefined, undefined])
})

t.test('agentscan/check never counts', async (t) => {
  const sallyport = await openWithoutData(t, { policy: counting(1) })
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
  const at = await startHost(t, HOSTS[0] as Host, sallyport)
  const outages = [
    ['8.6.0.1', () => redis.freeze(), () => redis.thaw()],
    ['8.6.0.2', () => redis.stop(), () => redis.restart()],
  ] as const
  for (const [address, begin, end] of outages) {
    await begin()
    seen.length = 0
    const statuses = []
    for (let call = 0; call < 4; call++) statuses.push((await askAs(at, address, '/login')).status)
    t.same(statuses, [200, 429, 429, 429], 'half of three, rounded down')
    sallyport.drain()
    t.ok(seen.length > 0 && seen.every((degraded) => Array.isArray(degraded) && degraded.includes('limits')))
    // One late answer is no outage: a store that answers no request for a second is away.
    for (let call = 0; faults.length === 0 && call < 500; call++) await askAs(at, address, '/login')
    t.ok(faults.length > 0)
    await end()
  }
})

t.test('a request in flight is counted until its answer ends, and when its client leaves', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const start = SERVERS['node:http'] as (typeof SERVERS)[string]
  const at = await start(t, sallyport, (req, res) => void (req.headers['x-wait'] === undefined && res.end()))
  const waiting = connect(at.port, '127.0.0.1')
  waiting.write(requestBytes('GET', '/export', ['X-Wait', '1', 'X-Forwarded-For', '8.7.0.1']))
  let status = 200
  while (status === 200) ({ status } = await askAs(at, '8.7.0.2', '/export'))
  t.equal(status, 403)
  waiting.destroy()
  while (status !== 200) ({ status } = await askAs(at, '8.7.0.2', '/export'))
})
