import t from 'tap'
import { createKey, KEY_BYTES, mergePlans } from '#accounts'
import { createWire, failingLookup, START, tooLarge, type Wire } from './wire.ts'

/** Signed up on 31 January, looked at on 10 February. */
const WINDOW = '2026-01-31'
const RESET = Date.parse('2026-02-28') / 1000

const KEYED = [
  ['POST', '/v1/ip/lookup'],
  ['GET', '/v1/vpn/11.0.0.1'],
  ['GET', '/v1/proxy/11.0.0.1'],
  ['GET', '/v1/geo/11.0.0.1'],
  ['GET', '/v1/asn/11.0.0.1'],
  ['POST', '/v1/agentscan/check'],
  ['POST', '/v1/agentscan/verify'],
  ['POST', '/v1/provenance/check'],
  ['GET', '/v1/user/limits'],
] as const

const METERED = KEYED.filter(([, url]) => url !== '/v1/user/limits')
const BODY = { body: '{"target":"11.0.0.1","ip":"11.0.0.1","bot":"googlebot","claimed_jurisdiction":"DE"}' }

for (const [method, url] of KEYED) {
  t.test(`${method} ${url} asks for a key, before anything else`, async (t) => {
    const wire = createWire()
    const answer = await wire.call(method, url, { body: tooLarge })
    t.hasStrict(answer, {
      status: 401,
      bodyReads: 0,
      headers: { 'WWW-Authenticate': 'Bearer', 'Cache-Control': 'no-store' },
    })
    t.same(answer.json, {
      error: 'unauthorized',
      message: 'A valid API key is required: Authorization: Bearer <API_KEY>.',
    })
    t.notOk('X-RateLimit-Limit' in answer.headers)
    const key = await wire.keyFor('free')
    t.equal((await wire.call(method, url, { key, ...BODY })).status, 200)
  })
}

t.test('exactly one Authorization field of the scheme Bearer is a key', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  const other = await wire.keyFor('pro')
  const unknown = createKey(new Uint8Array(KEY_BYTES).fill(200)).text
  const swapped = `${key.slice(0, 12)}${other.slice(12)}`
  const rows: readonly (readonly [string, readonly string[], number])[] = [
    ['as documented', ['Authorization', `Bearer ${key}`], 200],
    ['lower-case scheme', ['Authorization', `bearer ${key}`], 200],
    ['upper-case scheme', ['authorization', `BEARER ${key}`], 200],
    ['upper-case field', ['AUTHORIZATION', `Bearer ${key}`], 200],
    ['more spaces', ['Authorization', `Bearer   ${key}`], 200],
    ['among other fields', ['Host', 'a', 'Authorization', `Bearer ${key}`, 'Accept', '*/*'], 200],
    ['as many spaces as fit', ['Authorization', `Bearer ${key.padStart(121)}`], 200],
    ['more spaces than fit', ['Authorization', `Bearer ${key.padStart(122)}`], 401],
    ['none', [], 401],
    ['empty', ['Authorization', ''], 401],
    ['scheme alone', ['Authorization', 'Bearer'], 401],
    ['scheme and a space', ['Authorization', 'Bearer '], 401],
    ['no scheme', ['Authorization', key], 401],
    ['another scheme', ['Authorization', `Basic ${key}`], 401],
    ['glued', ['Authorization', `Bearer${key}`], 401],
    ['two credentials', ['Authorization', `Bearer ${key} ${key}`], 401],
    ['a list', ['Authorization', `Bearer ${key}, Bearer ${key}`], 401],
    ['the same twice', ['Authorization', `Bearer ${key}`, 'Authorization', `Bearer ${key}`], 401],
    ['a good and a bad', ['Authorization', `Bearer ${key}`, 'authorization', 'Bearer x'], 401],
    ['a bad and a good', ['Authorization', 'Bearer x', 'authorization', `Bearer ${key}`], 401],
    ['not a key', ['Authorization', 'Bearer secret'], 401],
    ['a key cut short', ['Authorization', `Bearer ${key.slice(0, -1)}`], 401],
    ['a key never made here', ['Authorization', `Bearer ${unknown}`], 401],
    ['the id of one and the secret of another', ['Authorization', `Bearer ${swapped}`], 401],
    ['in a value that names the field', ['X-Note', 'Authorization', 'Accept', `Bearer ${key}`], 401],
    ['in another field', ['X-Api-Key', key], 401],
  ]
  for (const [name, fields, status] of rows) {
    t.equal((await wire.call('GET', '/v1/vpn/11.0.0.1', { fields })).status, status, name)
  }
  t.equal((await wire.call('GET', `/v1/vpn/11.0.0.1?key=${key}&access_token=${key}`)).status, 401, 'in the query')
  t.equal(await wire.usage(key, WINDOW), rows.filter(([, , status]) => status === 200).length, '401 is never counted')
})

t.test('a key of the right id and the wrong secret is refused', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  const bytes = new Uint8Array(KEY_BYTES).fill(1)
  bytes[KEY_BYTES - 1] = 2
  const { text } = createKey(bytes)
  t.equal(text.slice(0, 11), key.slice(0, 11), 'the same public id')
  t.equal((await wire.call('GET', '/v1/vpn/11.0.0.1', { key: text })).status, 401)
})

t.test('a text that cannot be a key never reaches the store', async (t) => {
  let asked = 0
  const wire = createWire({
    fault(operation) {
      if (operation === 'findKey') asked++
      return undefined
    },
  })
  const key = await wire.keyFor('free')
  await wire.call('GET', '/v1/vpn/11.0.0.1', { key: `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}` })
  await wire.call('GET', '/v1/vpn/11.0.0.1', { key: 'x'.repeat(10_000) })
  t.equal(asked, 0)
  await wire.call('GET', '/v1/vpn/11.0.0.1', { key })
  t.equal(asked, 1)
})

t.test('the host hears of every use of a key, and of nothing that was refused', async (t) => {
  const used: string[] = []
  const wire = createWire({ services: { onKeyUsed: (id) => used.push(id) } })
  const key = await wire.keyFor('free')
  await wire.call('GET', '/v1/vpn/11.0.0.1', { key })
  await wire.call('GET', '/v1/user/limits', { key })
  await wire.call('GET', '/v1/vpn/11.0.0.1', { key: createKey(new Uint8Array(KEY_BYTES).fill(200)).text })
  await wire.call('GET', '/v1/demo/11.0.0.1', { key })
  await wire.revoke(key)
  await wire.call('GET', '/v1/user/limits', { key })
  t.same(used, [key.slice(3, 11), key.slice(3, 11)])
})

t.test('every metered route spends the same allowance, once a call', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  let used = 0
  for (const [method, url] of METERED) {
    const answer = await wire.call(method, url, { key, ...BODY })
    used++
    t.hasStrict(answer, {
      status: 200,
      headers: {
        'X-RateLimit-Limit': '30000',
        'X-RateLimit-Remaining': String(30_000 - used),
        'X-RateLimit-Reset': String(RESET),
        'Cache-Control': 'no-store',
      },
    })
    t.equal(await wire.usage(key, WINDOW), used, url)
  }
})

/** [name, how it is called, status, whether it counts]. */
type Row = readonly [string, (wire: Wire, key: string) => Promise<{ status: number }>, number, boolean]

const OUTCOMES: readonly Row[] = [
  ['200', (wire, key) => wire.call('GET', '/v1/vpn/11.0.0.1', { key }), 200, true],
  ['400 of an address', (wire, key) => wire.call('GET', '/v1/vpn/nonsense', { key }), 400, true],
  ['400 of the encoding', (wire, key) => wire.call('GET', '/v1/vpn/%zz', { key }), 400, true],
  ['400 of a target', (wire, key) => wire.call('POST', '/v1/ip/lookup', { key, body: '{"target":"a b"}' }), 400, true],
  ['400 of a body', (wire, key) => wire.call('POST', '/v1/ip/lookup', { key, body: '[]' }), 400, true],
  ['401', (wire) => wire.call('GET', '/v1/vpn/11.0.0.1', { key: 'x' }), 401, false],
  ['404', (wire, key) => wire.call('GET', '/v1/nothing', { key }), 404, false],
  ['405', (wire, key) => wire.call('PUT', '/v1/vpn/11.0.0.1', { key }), 405, false],
  ['413', (wire, key) => wire.call('POST', '/v1/ip/lookup', { key, body: tooLarge }), 413, false],
  ['user/limits', (wire, key) => wire.call('GET', '/v1/user/limits', { key }), 200, false],
  ['keyless with a key', (wire, key) => wire.call('GET', '/v1/demo/11.0.0.1', { key }), 200, false],
]

for (const [name, call, status, counted] of OUTCOMES) {
  t.test(`${name} ${counted ? 'counts' : 'does not count'}`, async (t) => {
    const wire = createWire()
    const key = await wire.keyFor('free')
    t.equal((await call(wire, key)).status, status)
    t.equal(await wire.usage(key, WINDOW), counted ? 1 : 0)
  })
}

t.test('an error of ours is given back, in the count and in the headers', async (t) => {
  const wire = createWire({ lookup: failingLookup(new TypeError('a bug with a secret path')) })
  const key = await wire.keyFor('free')
  const answer = await wire.call('POST', '/v1/ip/lookup', { key, ...BODY })
  t.hasStrict(answer, { status: 500, headers: { 'X-RateLimit-Remaining': '30000' } })
  t.equal(await wire.usage(key, WINDOW), 0)
})

t.test('an error of ours is given back in the window that counted it, wherever the clock is', async (t) => {
  const wire = createWire({ lookup: failingLookup(new TypeError('a bug')) })
  const key = await wire.keyFor('free')
  const month = 30 * 86_400_000
  wire.advance(month)
  t.equal((await wire.call('GET', '/v1/vpn/11.0.0.1', { key })).status, 200)
  wire.advance(-month)
  t.equal((await wire.call('POST', '/v1/ip/lookup', { key, ...BODY })).status, 500)
  t.equal(await wire.usage(key, '2026-02-28'), 1)
})

t.test('a refund that fails is reported to the host and changes no answer', async (t) => {
  const wire = createWire({
    lookup: failingLookup(new TypeError('a bug')),
    fault: (operation) => (operation === 'refund' ? { apply: false, error: new Error('disk full') } : undefined),
  })
  const key = await wire.keyFor('free')
  t.hasStrict(await wire.call('POST', '/v1/ip/lookup', { key, ...BODY }), {
    status: 500,
    headers: { 'X-RateLimit-Remaining': '29999' },
  })
  t.match(wire.errors, [{ message: 'a bug' }, { message: 'disk full' }])
})

t.test('the last call of the allowance is answered, the next is 429 until the window ends', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  await wire.spendTo(key, WINDOW, 29_999)
  t.hasStrict(await wire.call('GET', '/v1/vpn/11.0.0.1', { key }), {
    status: 200,
    headers: { 'X-RateLimit-Remaining': '0' },
  })
  const refused = await wire.call('POST', '/v1/ip/lookup', { key, body: tooLarge })
  const wait = RESET - Date.parse(START) / 1000
  t.equal(refused.status, 429)
  t.equal(refused.bodyReads, 0, 'the body of a refused call is not read')
  t.same(refused.json, { error: 'rate_limit_exceeded', message: 'Rate limit exceeded.', retryAfter: wait })
  t.hasStrict(refused.headers, {
    'Retry-After': String(wait),
    'X-RateLimit-Limit': '30000',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(RESET),
  })
  t.equal((await wire.call('GET', '/v1/vpn/nonsense', { key })).status, 429, 'nor is its input looked at')
  t.hasStrict((await wire.call('GET', '/v1/user/limits', { key })).json, { usage: 30_000, remaining: 0 })
  t.equal((await wire.call('GET', '/v1/demo/11.0.0.1')).status, 200, 'keyless routes are not touched')

  wire.advance(wait * 1000 - 1)
  t.equal((await wire.call('GET', '/v1/vpn/11.0.0.1', { key })).status, 429)
  wire.advance(1)
  t.hasStrict(await wire.call('GET', '/v1/vpn/11.0.0.1', { key }), {
    status: 200,
    headers: { 'X-RateLimit-Remaining': '29999', 'X-RateLimit-Reset': String(Date.parse('2026-03-31') / 1000) },
  })
})

t.test('plans are named and sized in the configuration', async (t) => {
  const wire = createWire({ services: { plans: mergePlans({ free: 3, team: 2 }) } })
  for (const [plan, limit] of [
    ['team', 2],
    ['free', 3],
    ['gone', 3],
    ['pro', 500_000],
  ] as const) {
    const key = await wire.keyFor(plan)
    t.match((await wire.call('GET', '/v1/user/limits', { key })).json, { accountType: plan, limit }, plan)
  }
  const key = await wire.keyFor('team')
  const statuses = [200, 200, 429]
  for (const status of statuses) t.equal((await wire.call('GET', '/v1/geo/11.0.0.1', { key })).status, status)
})

const LIMITS = { free: 30_000, starter: 150_000, pro: 500_000, business: 2_000_000, enterprise: 9007199254740991 }

for (const [plan, limit] of Object.entries(LIMITS)) {
  t.test(`user/limits of the plan ${plan}`, async (t) => {
    const wire = createWire()
    const key = await wire.keyFor(plan)
    await wire.call('GET', '/v1/geo/11.0.0.1', { key })
    const answer = await wire.call('GET', '/v1/user/limits', { key })
    t.equal(answer.status, 200)
    t.same(answer.json, { accountType: plan, limit, usage: 1, remaining: limit - 1, resetDate: '2026-02-28' })
    t.hasStrict(answer.headers, {
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(limit - 1),
      'X-RateLimit-Reset': String(RESET),
    })
    t.equal(await wire.usage(key, WINDOW), 1, 'asking is free')
  })
}

t.test('the window is that of the signup day, not of the calendar', async (t) => {
  const wire = createWire()
  const days = { '2025-06-10': '2026-03-10', '2025-06-11': '2026-02-11', '2025-06-01': '2026-03-01' }
  for (const [signup, resetDate] of Object.entries(days)) {
    const key = await wire.keyFor('free', signup)
    t.equal((await wire.call('GET', '/v1/user/limits', { key })).json.resetDate, resetDate, signup)
  }
})

for (const operation of ['findKey', 'spend']) {
  t.test(`a store that fails at ${operation} is 503, and the keyless routes live`, async (t) => {
    let down = false
    const wire = createWire({
      fault: (called) =>
        down && called === operation ? { apply: false, error: new Error('disk I/O error') } : undefined,
    })
    const key = await wire.keyFor('free')
    down = true
    const answer = await wire.call('POST', '/v1/ip/lookup', { key, body: tooLarge })
    t.hasStrict(answer, { status: 503, bodyReads: 0, headers: { 'Retry-After': '5', 'Cache-Control': 'no-store' } })
    t.same(answer.json, {
      error: 'service_unavailable',
      message: 'The service is temporarily unavailable.',
    })
    t.match(wire.errors, [{ message: 'disk I/O error' }])
    t.equal((await wire.call('GET', '/v1/myip')).status, 200)
    down = false
    t.equal((await wire.call('POST', '/v1/ip/lookup', { key, ...BODY })).status, 200, 'back without help')
  })
}

t.test('a store that fails at usage is 503 for user/limits', async (t) => {
  const wire = createWire({
    fault: (called) => (called === 'usage' ? { apply: false, error: new Error('disk I/O error') } : undefined),
  })
  const key = await wire.keyFor('free')
  t.equal((await wire.call('GET', '/v1/user/limits', { key })).status, 503)
})

t.test('no answer, and no error told to the host, holds a key', async (t) => {
  const wire = createWire({ lookup: failingLookup(new TypeError('a bug')) })
  const key = await wire.keyFor('free')
  const answers = [
    await wire.call('POST', '/v1/ip/lookup', { key, ...BODY }),
    await wire.call('GET', '/v1/user/limits', { key }),
    await wire.call('GET', '/v1/vpn/nonsense', { key }),
    await wire.call('GET', '/v1/vpn/11.0.0.1', { key: `${key}x` }),
  ]
  t.notOk(JSON.stringify(answers).includes(key.slice(12)))
  t.notOk(wire.errors.map(String).join().includes(key.slice(12)))
})
