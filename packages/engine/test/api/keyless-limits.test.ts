import t from 'tap'
import { failAt } from '../accounts/faulty.ts'
import { createWire, START, tooLarge, type Wire } from './wire.ts'

const SECOND = 1000
const start = Date.parse(START) / 1000
const VERIFY = '/v1/crawlers/verify'
const GOOD = '{"ip":"11.0.0.1","bot":"googlebot"}'

/** The route answers all of these with 400, before and behind its schemas. */
const BAD = ['{', '{}', '{"ip":"nonsense","bot":"googlebot"}', '{"ip":"11.0.0.1","bot":"nobody"}']

/** Returns an answer with these headers of a limit. */
const limited = (status: number, limit: number, remaining: number, reset?: number) => ({
  status,
  headers: {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    ...(reset !== undefined && { 'X-RateLimit-Reset': String(start + reset) }),
  },
})

const readRemaining = async (wire: Wire, from?: string, method = 'GET', fields: readonly string[] = []) =>
  (await wire.call(method, '/v1/myip', { from, fields })).headers['X-RateLimit-Remaining']

/** The specification's table of per-IP limits, of the routes that are built. */
const LIMITS = [
  { url: '/v1/demo/11.0.0.1', max: 100, seconds: 86_400 },
  { url: '/v1/myip', max: 60, seconds: 3600 },
  { url: VERIFY, method: 'POST', max: 5, seconds: 3600 },
  { url: '/v1/asn/directory', max: 600, seconds: 3600 },
  { url: '/v1/asn/directory/64500', max: 600, seconds: 3600 },
]

for (const { url, method = 'GET', max, seconds } of LIMITS) {
  t.test(`${url} answers exactly ${max} times in ${seconds} seconds`, async (t) => {
    const wire = createWire()
    const call = (from?: string) => wire.call(method, url, { body: GOOD, from })
    t.hasStrict(await call(), limited(200, max, max - 1, seconds))
    for (let number = 1; number < max; number++) t.equal((await call()).status, 200)

    wire.advance(60 * SECOND)
    const refused = await call()
    const retryAfter = seconds - 60
    t.hasStrict(refused, limited(429, max, 0, seconds))
    t.same(refused.json, { error: 'rate_limit_exceeded', message: 'Rate limit exceeded.', retryAfter })
    t.hasStrict(refused.headers, { 'Retry-After': String(retryAfter), 'Cache-Control': 'no-store' })
    t.equal((await call('203.0.113.8')).status, 200, 'another client')

    wire.advance((seconds - 61) * SECOND + 999)
    t.equal((await call()).status, 429, 'one millisecond before the reset')
    wire.advance(1)
    t.equal((await call()).status, 200, 'at the reset')
  })
}

t.test('the wait is never longer than the window, whatever part of a second it began in', async (t) => {
  const wire = createWire()
  wire.advance(900)
  const call = () => wire.call('POST', VERIFY, { body: GOOD })
  for (let number = 0; number < 5; number++) t.equal((await call()).status, 200)
  const refused = await call()
  t.hasStrict(refused, limited(429, 5, 0, 3601))
  t.strictSame([refused.json.retryAfter, refused.headers['Retry-After']], [3600, '3600'])
  wire.advance(3600 * SECOND)
  t.equal((await call()).status, 200, 'and not too short')
})

t.test('both directory routes share one count', async (t) => {
  const wire = createWire()
  const urls = ['/v1/asn/directory', '/v1/asn/directory/AS64500']
  for (let call = 0; call < 600; call++) await wire.call('GET', urls[call % 2] ?? '')
  for (const url of urls) t.equal((await wire.call('GET', url)).status, 429)
  t.equal((await wire.call('GET', '/v1/myip')).status, 200, 'and no other route')
})

t.test('a 400 and a 404 are counted and say how the limit stands', async (t) => {
  const wire = createWire()
  t.hasStrict(await wire.call('GET', '/v1/demo/nonsense'), limited(400, 100, 99))
  t.hasStrict(await wire.call('GET', '/v1/asn/directory/AS1'), limited(404, 600, 599))
})

t.test('a client is an IPv4 address or a /64, by any method and whatever a forwarding header says', async (t) => {
  const wire = createWire()
  const calls: readonly (readonly [from: string, remaining: string, method?: string, fields?: readonly string[]])[] = [
    ['2600::1', '59', 'HEAD'],
    ['2600::ffff:ffff:ffff:ffff', '58'],
    ['2600:0:0:1::1', '59'],
    ['12.0.0.1', '59'],
    ['::ffff:12.0.0.1', '58'],
    ['12.0.0.1', '57', 'GET', ['X-Forwarded-For', '198.51.100.9']],
    ['12.0.0.2', '59'],
  ]
  for (const [from, remaining, ...more] of calls) t.equal(await readRemaining(wire, from, ...more), remaining, from)
})

t.test('the networks of one /48 have sixteen times the limit of one of them', async (t) => {
  const wire = createWire()
  const call = (network: number, from = `2600:0:0:${network.toString(16)}::1`) => wire.call('GET', '/v1/myip', { from })
  for (let network = 0; network < 16; network++) {
    for (let each = 0; each < 59; each++) await call(network)
  }
  t.hasStrict(await call(0), limited(200, 60, 0))
  t.hasStrict(await call(16), limited(200, 60, 14))
  for (let network = 17; network < 31; network++) t.equal((await call(network)).status, 200)
  const refused = await call(31)
  t.hasStrict(refused, limited(429, 60, 0))
  t.equal(refused.json.retryAfter, 3600)
  t.equal((await call(0, '2600:0:1::1')).status, 200, 'the /48 beside it')
})

t.test('requests without an address share one bucket', async (t) => {
  const wire = createWire()
  for (let call = 0; call < 60; call++) await wire.call('GET', '/v1/myip', { from: '' })
  t.equal((await wire.call('GET', '/v1/myip', { from: 'not an address' })).status, 429)
  t.equal(await readRemaining(wire), '59')
})

for (const operation of ['look', 'take']) {
  t.test(`a limit that fails at ${operation} is 503 for a verification, good or bad`, async (t) => {
    const wire = createWire({ limitFault: failAt(operation) })
    for (const body of [GOOD, '{}']) {
      const answer = await wire.call('POST', VERIFY, { body })
      t.hasStrict(answer, { status: 503, headers: { 'Retry-After': '5' }, json: { error: 'service_unavailable' } })
      t.notMatch(JSON.stringify(answer), /gone/)
    }
    t.match(wire.errors.at(-1), { message: 'the store is gone' })
  })
}

t.test('a verification that is answered 400 is counted in a bucket of its own', async (t) => {
  const wire = createWire()
  const verify = (body: string, from?: string) => wire.call('POST', VERIFY, { body, from })
  for (let call = 0; call < 59; call++) {
    t.hasStrict(await verify(BAD[call % BAD.length] ?? ''), limited(400, 60, 59 - call, 3600))
  }
  wire.advance(60 * SECOND)
  t.hasStrict(await verify(GOOD), limited(200, 5, 4, 3660), 'the others are untouched')
  t.hasStrict(await verify('{}'), limited(400, 60, 0))
  for (const body of BAD) {
    const refused = await verify(body)
    t.hasStrict(refused, limited(429, 60, 0, 3600))
    t.hasStrict([refused.json.retryAfter, refused.headers['Retry-After']], [3540, '3540'])
  }
  t.hasStrict(await verify(GOOD), limited(200, 5, 3), 'a call that can be read is refused by its own limit alone')
  t.equal((await verify('{}', '203.0.113.8')).status, 400, 'another client')
  wire.advance(3540 * SECOND)
  t.hasStrict(await verify('{}'), limited(400, 60, 59))
})

t.test('a client whose verifications are used up has no bad ones left either', async (t) => {
  const wire = createWire()
  for (let call = 0; call < 5; call++) t.equal((await wire.call('POST', VERIFY, { body: GOOD })).status, 200)
  for (const body of [GOOD, ...BAD]) {
    t.hasStrict(await wire.call('POST', VERIFY, { body }), { ...limited(429, 5, 0), bodyReads: 0 })
  }
})

t.test('a body that is too large takes nothing of the calls that can be read; our faults do', async (t) => {
  const wire = createWire()
  for (let call = 1; call <= 60; call++) {
    t.hasStrict(await wire.call('POST', VERIFY, { body: tooLarge }), limited(413, 60, 60 - call))
  }
  for (const body of [tooLarge, '{}']) t.equal((await wire.call('POST', VERIFY, { body })).status, 429, 'one bucket')
  t.hasStrict(await wire.call('POST', VERIFY, { body: GOOD }), limited(200, 5, 4))
  const body = () => Promise.reject(new Error('a fault of ours'))
  t.hasStrict(await createWire().call('POST', VERIFY, { body }), limited(500, 5, 4))
})

t.test('an open route has no limit', async (t) => {
  const wire = createWire({ limitFault: failAt() })
  const answer = await wire.call('GET', '/v1/openapi.json', { from: '' })
  t.equal(answer.status, 200)
  t.notOk(Object.keys(answer.headers).some((name) => name.startsWith('X-RateLimit')))
})
