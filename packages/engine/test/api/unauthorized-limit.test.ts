import t from 'tap'
import { failAt } from '../accounts/faulty.ts'
import { createWire, openKeyed, START, tooLarge, UNKNOWN, type Wire } from './wire.ts'

const URL = '/v1/vpn/11.0.0.1'
const MAX = 60

/** Calls without a key, with what cannot be one, and with one that nobody has. */
const BAD = [[], ['Authorization', 'Bearer x'], ['Authorization', `Bearer ${UNKNOWN}`]]

async function exhaust(wire: Wire, from?: string): Promise<readonly number[]> {
  const statuses = new Set<number>()
  for (let call = 0; call < MAX; call++) {
    statuses.add((await wire.call('GET', URL, { fields: BAD[call % BAD.length], from })).status)
  }
  return [...statuses]
}

t.test('after 60 calls a minute without a valid key a client gets 429 in place of 401', async (t) => {
  const wire = createWire()
  t.same(await exhaust(wire), [401])
  wire.advance(20_500)
  for (const [method, url] of [
    ['GET', URL],
    ['POST', '/v1/ip/lookup'],
    ['GET', '/v1/user/limits'],
  ] as const) {
    const refused = await wire.call(method, url, { body: tooLarge })
    t.hasStrict(refused, { status: 429, bodyReads: 0 }, 'one count for all routes')
    t.same(refused.json, { error: 'rate_limit_exceeded', message: 'Rate limit exceeded.', retryAfter: 40 })
    t.hasStrict(refused.headers, { 'Retry-After': '40', 'X-RateLimit-Limit': '60', 'Cache-Control': 'no-store' })
    t.equal(refused.headers['X-RateLimit-Reset'], String(Date.parse(START) / 1000 + 60))
    t.notOk('WWW-Authenticate' in refused.headers)
  }
  t.equal((await wire.call('GET', URL, { from: '203.0.113.8' })).status, 401, 'another client')
  t.equal((await wire.call('GET', '/v1/myip')).status, 200, 'keyless routes are not touched')
  t.equal((await wire.call('GET', '/v1/nothing')).status, 404)
  wire.advance(39_500)
  t.equal((await wire.call('GET', URL)).status, 401, 'at the end of the minute')
})

t.test('a valid key is never refused by it, and is not counted in it', async (t) => {
  const { wire, key } = await openKeyed()
  for (let call = 0; call < 2 * MAX; call++) t.equal((await wire.call('GET', '/v1/user/limits', { key })).status, 200)
  t.same(await exhaust(wire), [401], 'all sixty are left')
  t.equal((await wire.call('GET', URL)).status, 429)
  const answer = await wire.call('GET', URL, { key })
  t.hasStrict(answer, { status: 200, headers: { 'X-RateLimit-Limit': '30000', 'X-RateLimit-Remaining': '29999' } })
  t.equal((await wire.call('GET', '/v1/vpn/nonsense', { key })).status, 400)
  await wire.revoke(key)
  t.equal((await wire.call('GET', URL, { key })).status, 429, 'one that was revoked is')
})

t.test('while the limits cannot be counted the answer stays 401', async (t) => {
  const wire = createWire({ limitFault: failAt() })
  for (let call = 0; call < 2 * MAX; call++) {
    t.hasStrict(await wire.call('GET', URL), { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } })
  }
  t.match(wire.errors[0], { message: 'the store is gone' })
})

t.test('a store that cannot say whether a key is valid counts nothing', async (t) => {
  let down = true
  const wire = createWire({ fault: failAt('findKey', () => down) })
  for (let call = 0; call < 2 * MAX; call++) t.equal((await wire.call('GET', URL, { key: UNKNOWN })).status, 503)
  down = false
  t.equal((await wire.call('GET', URL, { key: UNKNOWN })).status, 401)
})
