import t from 'tap'
import { createKey, KEY_BYTES, mergePlans } from '#accounts'
import { failAt } from '../accounts/faulty.ts'
import { createWire, failingLookup, openKeyed, START, tooLarge, UNKNOWN, type Wire } from './wire.ts'

/** Signed up on 31 January, looked at on 10 February. */
const WINDOW = '2026-01-31'
const RESET = Date.parse('2026-02-28') / 1000

const VPN = '/v1/vpn/11.0.0.1'
const LOOKUP = '/v1/ip/lookup'
const LIMITS = '/v1/user/limits'
const KEYED = [
  ['POST', LOOKUP],
  ['GET', VPN],
  ['GET', '/v1/proxy/11.0.0.1'],
  ['GET', '/v1/geo/11.0.0.1'],
  ['GET', '/v1/asn/11.0.0.1'],
  ['POST', '/v1/agentscan/check'],
  ['POST', '/v1/agentscan/verify'],
  ['POST', '/v1/provenance/check'],
  ['GET', LIMITS],
] as const

const BODY = { body: '{"target":"11.0.0.1","ip":"11.0.0.1","bot":"googlebot","claimed_jurisdiction":"DE"}' }

t.test('every keyed route asks for a key before anything else, and spends one call of one allowance', async (t) => {
  const { wire, key } = await openKeyed()
  let used = 0
  for (const [method, url] of KEYED) {
    const refused = await wire.call(method, url, { body: tooLarge })
    t.hasStrict(refused, { status: 401, bodyReads: 0 }, url)
    t.hasStrict(refused.headers, { 'WWW-Authenticate': 'Bearer', 'Cache-Control': 'no-store' })
    t.same(refused.json, {
      error: 'unauthorized',
      message: 'A valid API key is required: Authorization: Bearer <API_KEY>.',
    })
    t.notOk('X-RateLimit-Limit' in refused.headers)
    const answer = await wire.call(method, url, { key, ...BODY })
    if (url !== LIMITS) used++
    t.equal(answer.status, 200)
    t.hasStrict(answer.headers, {
      'X-RateLimit-Limit': '30000',
      'X-RateLimit-Remaining': String(30_000 - used),
      'X-RateLimit-Reset': String(RESET),
      'Cache-Control': 'no-store',
    })
    t.equal(await wire.usage(key, WINDOW), used, url)
  }
})

t.test('exactly one Authorization field of the scheme Bearer is a key', async (t) => {
  const { wire, key } = await openKeyed()
  const other = await wire.keyFor('pro')
  const bytes = new Uint8Array(KEY_BYTES).fill(1)
  bytes[KEY_BYTES - 1] = 2
  const sameId = createKey(bytes).text
  t.equal(sameId.slice(0, 11), key.slice(0, 11), 'the same public id')
  const good = ['Authorization', `Bearer ${key}`]
  const rows: readonly (readonly [string, readonly string[], number])[] = [
    ['as documented', good, 200],
    ['in other cases', ['AUTHORIZATION', `bEARER ${key}`], 200],
    ['among other fields', ['Host', 'a', ...good, 'Accept', '*/*'], 200],
    ['as many spaces as fit', ['Authorization', `Bearer ${key.padStart(121)}`], 200],
    ['more spaces than fit', ['Authorization', `Bearer ${key.padStart(122)}`], 401],
    ['empty', ['Authorization', ''], 401],
    ['scheme alone', ['Authorization', 'Bearer '], 401],
    ['no scheme', ['Authorization', key], 401],
    ['another scheme', ['Authorization', `Basic ${key}`], 401],
    ['glued', ['Authorization', `Bearer${key}`], 401],
    ['two credentials', ['Authorization', `Bearer ${key} ${key}`], 401],
    ['a list', ['Authorization', `Bearer ${key}, Bearer ${key}`], 401],
    ['the same twice', [...good, ...good], 401],
    ['a good and a bad', [...good, 'authorization', 'Bearer x'], 401],
    ['a bad and a good', ['authorization', 'Bearer x', ...good], 401],
    ['a key cut short', ['Authorization', `Bearer ${key.slice(0, -1)}`], 401],
    ['a key never made here', ['Authorization', `Bearer ${UNKNOWN}`], 401],
    ['the id of one and the secret of another', ['Authorization', `Bearer ${key.slice(0, 12)}${other.slice(12)}`], 401],
    ['the right id and a wrong secret', ['Authorization', `Bearer ${sameId}`], 401],
    ['in a value that names the field', ['X-Note', 'Authorization', 'Accept', `Bearer ${key}`], 401],
    ['in another field', ['X-Api-Key', key], 401],
  ]
  for (const [name, fields, status] of rows) t.equal((await wire.call('GET', VPN, { fields })).status, status, name)
  t.equal((await wire.call('GET', `${VPN}?key=${key}&access_token=${key}`)).status, 401, 'in the query')
  t.equal(await wire.usage(key, WINDOW), rows.filter(([, , status]) => status === 200).length, '401 is never counted')
})

t.test('a text that cannot be a key never reaches the store', async (t) => {
  let asked = 0
  const countAsked = () => {
    asked++
    return false
  }
  const { wire, key } = await openKeyed({ fault: failAt('findKey', countAsked) })
  for (const wrong of [`${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`, 'x'.repeat(10_000)])
    await wire.call('GET', VPN, { key: wrong })
  t.equal(asked, 0)
  await wire.call('GET', VPN, { key })
  t.equal(asked, 1)
})

t.test('an answer or a fault of the caller counts, and nothing else', async (t) => {
  const rows: readonly (readonly [method: string, url: string, status: number, counted: number, more?: object])[] = [
    ['GET', VPN, 200, 1],
    ['GET', '/v1/vpn/nonsense', 400, 1],
    ['GET', '/v1/vpn/%zz', 400, 1],
    ['POST', LOOKUP, 400, 1, { body: '{"target":"a b"}' }],
    ['POST', LOOKUP, 400, 1, { body: '[]' }],
    ['GET', VPN, 401, 0, { key: 'x' }],
    ['GET', '/v1/nothing', 404, 0],
    ['PUT', VPN, 405, 0],
    ['POST', LOOKUP, 413, 0, { body: tooLarge }],
    ['GET', LIMITS, 200, 0],
    ['GET', '/v1/demo/11.0.0.1', 200, 0],
  ]
  for (const [method, url, status, counted, more] of rows) {
    const { wire, key } = await openKeyed()
    const answer = await wire.call(method, url, { key, ...more })
    t.same([answer.status, await wire.usage(key, WINDOW)], [status, counted], `${method} ${url}`)
  }
})

t.test('an error of ours is given back in the window that counted it, wherever the clock is', async (t) => {
  const { wire, key } = await openKeyed({ lookup: failingLookup(new TypeError('a bug')) })
  t.hasStrict(await wire.call('POST', LOOKUP, { key, ...BODY }), {
    status: 500,
    headers: { 'X-RateLimit-Remaining': '30000' },
  })
  t.equal(await wire.usage(key, WINDOW), 0)
  const month = 30 * 86_400_000
  wire.advance(month)
  t.equal((await wire.call('GET', VPN, { key })).status, 200)
  wire.advance(-month)
  t.equal((await wire.call('POST', LOOKUP, { key, ...BODY })).status, 500)
  t.equal(await wire.usage(key, '2026-02-28'), 1)
})

t.test('a refund that fails is reported to the host and changes no answer', async (t) => {
  const { wire, key } = await openKeyed({ fault: failAt('refund'), lookup: failingLookup(new TypeError('a bug')) })
  const { status, headers } = await wire.call('POST', LOOKUP, { key, ...BODY })
  t.same([status, headers['X-RateLimit-Remaining']], [500, '29999'])
  t.match(wire.errors, [{ message: 'a bug' }, { message: 'the store is gone' }])
})

t.test('the last call of the allowance is answered, the next is 429 until the window ends', async (t) => {
  const { wire, key } = await openKeyed()
  await wire.spendTo(key, WINDOW, 29_999)
  t.hasStrict(await wire.call('GET', VPN, { key }), { status: 200, headers: { 'X-RateLimit-Remaining': '0' } })
  const refused = await wire.call('POST', LOOKUP, { key, body: tooLarge })
  const wait = RESET - Date.parse(START) / 1000
  t.hasStrict(refused, { status: 429, bodyReads: 0 }, 'the body of a refused call is not read')
  t.same(refused.json, { error: 'rate_limit_exceeded', message: 'Rate limit exceeded.', retryAfter: wait })
  t.hasStrict(refused.headers, {
    'Retry-After': String(wait),
    'X-RateLimit-Limit': '30000',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(RESET),
  })
  t.equal((await wire.call('GET', '/v1/vpn/nonsense', { key })).status, 429, 'nor is its input looked at')
  t.hasStrict((await wire.call('GET', LIMITS, { key })).json, { usage: 30_000, remaining: 0 })
  t.equal((await wire.call('GET', '/v1/demo/11.0.0.1')).status, 200, 'keyless routes are not touched')

  wire.advance(wait * 1000 - 1)
  t.equal((await wire.call('GET', VPN, { key })).status, 429)
  wire.advance(1)
  t.hasStrict(await wire.call('GET', VPN, { key }), {
    status: 200,
    headers: { 'X-RateLimit-Remaining': '29999', 'X-RateLimit-Reset': String(Date.parse('2026-03-31') / 1000) },
  })
})

t.test('plans have the sizes of the specification, or those of the configuration', async (t) => {
  const usual = createWire()
  const own = createWire({ services: { plans: mergePlans({ free: 3, team: 2, all: 'unlimited' }) } })
  const unlimited = Number.MAX_SAFE_INTEGER
  const rows: readonly (readonly [wire: Wire, plan: string, limit: number])[] = [
    [usual, 'free', 30_000],
    [usual, 'starter', 150_000],
    [usual, 'pro', 500_000],
    [usual, 'business', 2_000_000],
    [usual, 'enterprise', unlimited],
    [own, 'team', 2],
    [own, 'free', 3],
    [own, 'gone', 3],
    [own, '__proto__', 3],
    [own, 'all', unlimited],
    [own, 'pro', 500_000],
  ]
  for (const [wire, plan, limit] of rows) {
    const key = await wire.keyFor(plan)
    await wire.call('GET', '/v1/geo/11.0.0.1', { key })
    const { status, json, headers } = await wire.call('GET', LIMITS, { key })
    const remaining = limit - 1
    t.same([status, json], [200, { accountType: plan, limit, usage: 1, remaining, resetDate: '2026-02-28' }], plan)
    t.hasStrict(headers, { 'X-RateLimit-Limit': String(limit), 'X-RateLimit-Remaining': String(remaining) })
    t.equal(await wire.usage(key, WINDOW), 1, 'asking is free')
  }
  const key = await own.keyFor('team')
  for (const status of [200, 200, 429]) t.equal((await own.call('GET', VPN, { key })).status, status)
})

for (const [operation, method, url] of [
  ['findKey', 'POST', LOOKUP],
  ['spend', 'POST', LOOKUP],
  ['usage', 'GET', LIMITS],
] as const) {
  t.test(`a store that fails at ${operation} is 503, and the keyless routes live`, async (t) => {
    let down = false
    const { wire, key } = await openKeyed({ fault: failAt(operation, () => down) })
    down = true
    const answer = await wire.call(method, url, { key, body: tooLarge })
    t.hasStrict(answer, { status: 503, bodyReads: 0, headers: { 'Retry-After': '5', 'Cache-Control': 'no-store' } })
    t.same(answer.json, { error: 'service_unavailable', message: 'The service is temporarily unavailable.' })
    t.match(wire.errors, [{ message: 'the store is gone' }])
    t.equal((await wire.call('GET', '/v1/myip')).status, 200)
    down = false
    t.equal((await wire.call(method, url, { key, ...BODY })).status, 200, 'back without help')
  })
}

t.test('no response and no reported error contains a key', async (t) => {
  const { wire, key } = await openKeyed({ lookup: failingLookup(new TypeError('a bug')) })
  const answers = [
    await wire.call('POST', LOOKUP, { key, ...BODY }),
    await wire.call('GET', LIMITS, { key }),
    await wire.call('GET', '/v1/vpn/nonsense', { key }),
    await wire.call('GET', VPN, { key: `${key}x` }),
  ]
  t.notOk(JSON.stringify(answers).includes(key.slice(12)))
  t.notOk(wire.errors.map(String).join().includes(key.slice(12)))
})
