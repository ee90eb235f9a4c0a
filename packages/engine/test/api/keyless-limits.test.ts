import t from 'tap'
import { createWire, START, tooLarge } from './wire.ts'

const SECOND = 1000
const start = Date.parse(START) / 1000

/** The specification's table of per-IP limits, of the routes that are built. */
const LIMITS = [
  { url: '/v1/demo/11.0.0.1', max: 100, seconds: 86_400 },
  { url: '/v1/myip', max: 60, seconds: 3600 },
  { url: '/v1/crawlers/verify', method: 'POST', max: 5, seconds: 3600 },
  { url: '/v1/asn/directory', max: 600, seconds: 3600 },
  { url: '/v1/asn/directory/64500', max: 600, seconds: 3600 },
]

for (const { url, method = 'GET', max, seconds } of LIMITS) {
  t.test(`${url} answers exactly ${max} times in ${seconds} seconds`, async (t) => {
    const wire = createWire()
    const call = (from?: string) => wire.call(method, url, { body: '{"ip":"11.0.0.1","bot":"googlebot"}', from })
    const first = await call()
    t.hasStrict(first, {
      status: 200,
      headers: {
        'X-RateLimit-Limit': String(max),
        'X-RateLimit-Remaining': String(max - 1),
        'X-RateLimit-Reset': String(start + seconds),
      },
    })
    const statuses = []
    for (let number = 1; number < max; number++) statuses.push((await call()).status)
    t.same(new Set(statuses), new Set([200]))

    wire.advance(60 * SECOND)
    const refused = await call()
    t.equal(refused.status, 429)
    t.same(refused.json, {
      error: 'rate_limit_exceeded',
      message: 'Rate limit exceeded.',
      retryAfter: seconds - 60,
    })
    t.hasStrict(refused.headers, {
      'Retry-After': String(seconds - 60),
      'X-RateLimit-Limit': String(max),
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(start + seconds),
      'Cache-Control': 'no-store',
    })
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
  const call = () => wire.call('POST', '/v1/crawlers/verify', { body: '{"ip":"11.0.0.1","bot":"googlebot"}' })
  for (let number = 0; number < 5; number++) t.equal((await call()).status, 200)
  const { json, headers } = await call()
  t.strictSame([json.retryAfter, headers['Retry-After']], [3600, '3600'])
  t.equal(headers['X-RateLimit-Reset'], String(start + 3601))
  wire.advance(3600 * SECOND)
  t.equal((await call()).status, 200, 'and not too short')
})

t.test('both directory routes share one count', async (t) => {
  const wire = createWire()
  for (let call = 0; call < 300; call++) {
    await wire.call('GET', '/v1/asn/directory')
    await wire.call('GET', '/v1/asn/directory/AS64500')
  }
  t.equal((await wire.call('GET', '/v1/asn/directory')).status, 429)
  t.equal((await wire.call('GET', '/v1/asn/directory/AS64500')).status, 429)
  t.equal((await wire.call('GET', '/v1/myip')).status, 200, 'and no other route')
})

t.test('a 400 and a 404 are counted and say how the limit stands', async (t) => {
  const wire = createWire()
  const bad = await wire.call('GET', '/v1/demo/nonsense')
  t.hasStrict(bad, { status: 400, headers: { 'X-RateLimit-Limit': '100', 'X-RateLimit-Remaining': '99' } })
  const none = await wire.call('GET', '/v1/asn/directory/AS1')
  t.hasStrict(none, { status: 404, headers: { 'X-RateLimit-Limit': '600', 'X-RateLimit-Remaining': '599' } })
})

t.test('HEAD counts like GET', async (t) => {
  const wire = createWire()
  t.equal((await wire.call('HEAD', '/v1/myip')).headers['X-RateLimit-Remaining'], '59')
  t.equal((await wire.call('GET', '/v1/myip')).headers['X-RateLimit-Remaining'], '58')
})

t.test('an IPv6 client is its /64, and the mapped form of IPv4 is IPv4', async (t) => {
  const wire = createWire()
  const readRemaining = async (from: string) =>
    (await wire.call('GET', '/v1/myip', { from })).headers['X-RateLimit-Remaining']
  t.equal(await readRemaining('2600::1'), '59')
  t.equal(await readRemaining('2600::ffff:ffff:ffff:ffff'), '58')
  t.equal(await readRemaining('2600:0:0:1::1'), '59')
  t.equal(await readRemaining('12.0.0.1'), '59')
  t.equal(await readRemaining('::ffff:12.0.0.1'), '58')
  t.equal(await readRemaining('12.0.0.2'), '59')
})

t.test('the networks of one /48 have sixteen times the limit of one of them', async (t) => {
  const wire = createWire()
  const call = (network: number, from = `2600:0:0:${network.toString(16)}::1`) => wire.call('GET', '/v1/myip', { from })
  for (let network = 0; network < 16; network++) {
    for (let each = 0; each < 59; each++) await call(network)
  }
  t.hasStrict(await call(0), { status: 200, headers: { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '0' } })
  t.hasStrict((await call(16)).headers, { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '14' })
  for (let network = 17; network < 31; network++) t.equal((await call(network)).status, 200)
  const refused = await call(31)
  t.hasStrict(refused, { status: 429, headers: { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '0' } })
  t.equal(refused.json.retryAfter, 3600)
  t.equal((await call(0, '2600:0:1::1')).status, 200, 'the /48 beside it')
})

t.test('requests without an address share one bucket', async (t) => {
  const wire = createWire()
  for (let call = 0; call < 60; call++) await wire.call('GET', '/v1/myip', { from: '' })
  t.equal((await wire.call('GET', '/v1/myip', { from: 'not an address' })).status, 429)
  t.equal((await wire.call('GET', '/v1/myip')).status, 200)
})

t.test('a forwarding header changes nothing here: the client is what the service says', async (t) => {
  const wire = createWire()
  await wire.call('GET', '/v1/myip')
  const fields = ['X-Forwarded-For', '198.51.100.9']
  t.equal((await wire.call('GET', '/v1/myip', { fields })).headers['X-RateLimit-Remaining'], '58')
})

t.test('limits that cannot be counted are 503, not an answer', async (t) => {
  const wire = createWire({ limitFault: () => ({ apply: false, error: new Error('redis is gone') }) })
  const answer = await wire.call('GET', '/v1/demo/11.0.0.1')
  t.hasStrict(answer, { status: 503, headers: { 'Retry-After': '5' }, json: { error: 'service_unavailable' } })
  t.notMatch(JSON.stringify(answer), /redis/)
  t.match(wire.errors, [{ message: 'redis is gone' }])
})

const VERIFY = '/v1/crawlers/verify'
const GOOD = '{"ip":"11.0.0.1","bot":"googlebot"}'

/** The route answers all of these with 400, before and behind its schemas. */
const BAD = [
  '',
  '{',
  '[]',
  '{}',
  '{"ip":"11.0.0.1"}',
  '{"ip":"nonsense","bot":"googlebot"}',
  '{"ip":"11.0.0.1","bot":"nobody"}',
  '{"ip":"11.0.0.1","bot":"gptbot","user_agent":"Googlebot/2.1"}',
]

t.test('a verification that is answered 400 is counted in a bucket of its own', async (t) => {
  const wire = createWire()
  const verify = (body: string, from?: string) => wire.call('POST', VERIFY, { body, from })
  for (let call = 0; call < 59; call++) {
    t.hasStrict(await verify(BAD[call % BAD.length] ?? ''), {
      status: 400,
      headers: {
        'X-RateLimit-Limit': '60',
        'X-RateLimit-Remaining': String(59 - call),
        'X-RateLimit-Reset': String(start + 3600),
      },
    })
  }
  wire.advance(60 * SECOND)
  const first = await verify(GOOD)
  t.hasStrict(first, { status: 200, headers: { 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '4' } })
  t.equal(first.headers['X-RateLimit-Reset'], String(start + 3660), 'the others are untouched')
  t.hasStrict(await verify('{}'), { status: 400, headers: { 'X-RateLimit-Remaining': '0' } })
  for (const body of BAD) {
    t.hasStrict(await verify(body), {
      status: 429,
      json: { error: 'rate_limit_exceeded', retryAfter: 3540 },
      headers: {
        'Retry-After': '3540',
        'X-RateLimit-Limit': '60',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': String(start + 3600),
      },
    })
  }
  t.hasStrict(
    await verify(GOOD),
    { status: 200, headers: { 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '3' } },
    'a call that can be read is refused by its own limit alone',
  )
  t.equal((await verify('{}', '203.0.113.8')).status, 400, 'another client')
  wire.advance(3540 * SECOND)
  t.hasStrict(await verify('{}'), { status: 400, headers: { 'X-RateLimit-Remaining': '59' } })
})

t.test('a client whose verifications are used up has no bad ones left either', async (t) => {
  const wire = createWire()
  for (let call = 0; call < 5; call++) t.equal((await wire.call('POST', VERIFY, { body: GOOD })).status, 200)
  for (const body of [GOOD, ...BAD]) {
    t.hasStrict(await wire.call('POST', VERIFY, { body }), {
      status: 429,
      bodyReads: 0,
      headers: { 'Retry-After': '3600', 'X-RateLimit-Remaining': '0' },
    })
  }
})

t.test('a body that is too large takes nothing of the calls that can be read', async (t) => {
  const wire = createWire()
  for (let call = 1; call <= 60; call++) {
    const { status, headers } = await wire.call('POST', VERIFY, { body: tooLarge })
    t.same([status, headers['X-RateLimit-Limit'], headers['X-RateLimit-Remaining']], [413, '60', String(60 - call)])
  }
  t.equal((await wire.call('POST', VERIFY, { body: tooLarge })).status, 429)
  t.equal((await wire.call('POST', VERIFY, { body: '{}' })).status, 429, 'one bucket for all that cannot be read')
  t.hasStrict(await wire.call('POST', VERIFY, { body: GOOD }), {
    status: 200,
    headers: { 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '4' },
  })
})

t.test('a verification that fails on our side is counted with those that can be read', async (t) => {
  const wire = createWire()
  const body = () => Promise.reject(new Error('a fault of ours'))
  t.hasStrict(await wire.call('POST', VERIFY, { body }), {
    status: 500,
    headers: { 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '4' },
  })
})

for (const operation of ['look', 'take']) {
  t.test(`a limit that fails at ${operation} is 503 for a verification, good or bad`, async (t) => {
    const wire = createWire({
      limitFault: (called) => (called === operation ? { apply: false, error: new Error('redis is gone') } : undefined),
    })
    for (const body of [GOOD, '{}']) {
      t.hasStrict(await wire.call('POST', VERIFY, { body }), {
        status: 503,
        headers: { 'Retry-After': '5' },
        json: { error: 'service_unavailable' },
      })
    }
    t.match(wire.errors.at(-1), { message: 'redis is gone' })
  })
}

t.test('an open route has no limit', async (t) => {
  const wire = createWire({ limitFault: () => ({ apply: false, error: new Error('never asked') }) })
  const answer = await wire.call('GET', '/v1/openapi.json', { from: '' })
  t.equal(answer.status, 200)
  t.notOk(Object.keys(answer.headers).some((name) => name.startsWith('X-RateLimit')))
})
