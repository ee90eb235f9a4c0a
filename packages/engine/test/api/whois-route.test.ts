import t from 'tap'
import { createWire, openKeyed, REGISTERED } from './wire.ts'

t.test('a domain is answered with its registration', async (t) => {
  const { wire, key } = await openKeyed()
  const registered = { domain: 'example.com', ...REGISTERED }
  for (const name of ['example.com', 'EXAMPLE.COM', 'example.com.', 'a.b.example.com', 'ｅxample.com']) {
    const { status, json, headers } = await wire.call('GET', `/v1/whois/${encodeURIComponent(name)}`, { key })
    t.strictSame([status, json], [200, registered], name)
    t.equal(headers['Cache-Control'], 'no-store')
  }
  const sparse = await wire.call('GET', '/v1/whois/example.net', { key })
  t.strictSame(sparse.json, { domain: 'example.net', nameservers: [], status: [], privacyProtection: true })
})

t.test('no domain, a free domain and an unknown state are three answers', async (t) => {
  const { wire, key } = await openKeyed()
  const words = 'com co.uk localhost a.internal 1.1.1.1 [::1] ::1 0x7f.1 2130706433 a..com -a.com a_b.com'
  const wrong = ['a b.com', 'example.com\r\nexample.net', ' ', 'exa\0mple.com', `${'a.'.repeat(200)}com`]
  const others = ['https://example.com', 'user@example.com', 'example.com:43']
  const rows: readonly (readonly [name: string, status: number, code: string])[] = [
    ...[...words.split(' '), ...wrong, ...others].map((name) => [name, 400, 'invalid_domain'] as const),
    ['nobody.example.org', 400, 'domain_not_found'],
    ['reserved.com', 400, 'domain_reserved'],
    ['silent.com', 503, 'service_unavailable'],
  ]
  for (const [name, status, code] of rows) {
    const answer = await wire.call('GET', `/v1/whois/${encodeURIComponent(name)}`, { key })
    t.strictSame([answer.status, answer.json.error], [status, code], JSON.stringify(name.slice(0, 40)))
  }
  t.strictSame(wire.errors, [])
})

t.test('a key is needed, and an answer that could not be had is not counted', async (t) => {
  const wire = createWire()
  t.hasStrict(await wire.call('GET', '/v1/whois/example.com'), { status: 401 })
  const key = await wire.keyFor('free')
  const remaining: unknown[] = []
  for (const name of ['example.com', 'free.org', 'silent.com', 'com']) {
    const { headers } = await wire.call('GET', `/v1/whois/${name}`, { key })
    remaining.push(headers['X-RateLimit-Remaining'])
  }
  t.strictSame(remaining, ['29999', '29998', '29998', '29997'])
})
