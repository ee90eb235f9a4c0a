import { makeSnapshots } from '@sallyport/core/testing'
import t from 'tap'
import { ROUTES } from '../../src/api/index.ts'
import { ADDRESSES, createWire, LYON, openKeyed, REGISTERED, START, UNROUTED, type WireOptions } from './wire.ts'

const PLACE = { country: 'France', ...LYON }

/** Makes a wire, and calls it as one of its accounts. */
async function keyed(options?: WireOptions) {
  const { wire, key } = await openKeyed(options)
  const get = (url: string) => wire.call('GET', url, { key })
  const lookup = (target: string) => wire.call('POST', '/v1/ip/lookup', { key, body: JSON.stringify({ target }) })
  return { wire, get, lookup }
}

t.test('vpn, proxy and lookup agree on every class', async (t) => {
  const { get, lookup } = await keyed()
  for (const [networkClass, ip] of Object.entries(ADDRESSES)) {
    const anonymized = ['vpn', 'residential_proxy', 'tor'].includes(networkClass)
    const isTor = networkClass === 'tor'
    const vpn = (await get(`/v1/vpn/${ip}`)).json
    t.hasStrict(vpn, { ip, isVpn: anonymized, isTor, networkClass, anonymized })
    t.same(Object.keys(vpn), ['ip', 'isVpn', 'isTor', 'networkClass', 'anonymized', 'provider', 'riskScore'])
    const { isVpn, ...rest } = vpn
    t.same((await get(`/v1/proxy/${ip}`)).json, { ...rest, isProxy: isVpn }, 'the same under its own name')
    t.hasStrict((await lookup(ip)).json, {
      verdict: { classification: networkClass, anonymized },
      isVpn: anonymized,
      isProxy: anonymized,
      isTor,
      provider: vpn.provider,
      riskScore: vpn.riskScore,
    })
    t.equal(vpn.provider, networkClass === 'vpn' ? 'HideMe' : '', 'the brand, or an empty text')
    t.ok(Number.isInteger(vpn.riskScore) && vpn.riskScore >= 0 && vpn.riskScore <= 100)
  }
})

t.test('an address is answered in canonical form, and every route refuses what is none', async (t) => {
  const { get } = await keyed()
  t.equal((await get('/v1/vpn/2600:0:0:0::0001')).json.ip, '2600::1')
  t.equal((await get('/v1/asn/2600%3A%3A1')).json.ip, '2600::1', 'percent-encoded')
  t.equal((await get('/v1/geo/::ffff:11.0.0.1')).json.ip, '11.0.0.1', 'mapped')
  const refused = { error: 'invalid_ip', message: 'The IPv4 or IPv6 address is not valid.' }
  for (const path of ['/v1/demo/', '/v1/vpn/', '/v1/proxy/', '/v1/geo/', '/v1/asn/']) {
    for (const text of ['example.com', '01.2.3.4', '1.2.3.0%2F24', '%5B2600::1%5D', '2600::1%25eth0', '%00']) {
      const { status, json } = await get(path + text)
      t.same([status, json], [400, refused], path + text)
    }
  }
})

t.test('asn names the system and geo places the address; what is unknown is left out', async (t) => {
  const { get } = await keyed()
  for (const [path, ip, found] of [
    ['asn', '11.0.0.1', { asn: 'AS64500', name: 'Cloud Nine Ltd', type: 'hosting', country: 'DE' }],
    ['asn', '13.0.0.1', { asn: 'AS64502', name: 'Hide Me BV', type: 'vpn' }],
    ['asn', UNROUTED, { type: 'unknown' }],
    ['asn', '10.0.0.1', { type: 'unknown' }],
    ['geo', '12.0.0.1', PLACE],
    ['geo', '11.0.0.1', { country: 'Germany', countryCode: 'DE' }],
    ['geo', UNROUTED, {}],
    ['geo', '192.168.1.1', {}],
  ] as const) {
    t.same((await get(`/v1/${path}/${ip}`)).json, { ip, ...found }, `${path} ${ip}`)
  }
})

t.test('missing data is 503, never a false or an empty answer', async (t) => {
  const { wire, get } = await keyed({ snapshots: makeSnapshots() })
  const paths = ['/v1/vpn/', '/v1/proxy/', '/v1/asn/', '/v1/geo/']
  for (const path of paths) {
    const answer = await get(`${path}11.0.0.1`)
    t.hasStrict(answer, { status: 503, json: { error: 'service_unavailable' }, headers: { 'Retry-After': '5' } }, path)
    t.equal(answer.headers['X-RateLimit-Remaining'], '30000', 'and not counted')
  }
  for (const path of paths) t.equal((await get(`${path}10.0.0.1`)).status, 200, `${path}: a reserved one needs none`)
  for (const more of ['', '?q=a', '/64500']) {
    const answer = await get(`/v1/asn/directory${more}`)
    t.hasStrict(answer, { status: 503, headers: { 'Cache-Control': 'no-store' } }, more)
  }
  t.same((await get('/v1/demo/11.0.0.1')).json.degraded, ['geo', 'asn', 'ranges'])
  t.same((await wire.call('GET', '/v1/myip', { from: '11.0.0.1' })).json, { ipv4: '11.0.0.1' })
})

t.test('a city record that cannot be read is 503 for geo, and degraded in the lookup', async (t) => {
  const { get } = await keyed()
  t.equal((await get('/v1/geo/16.0.0.1')).status, 503)
  const json = { degraded: ['geo'], geo: { ip: '16.0.0.1' } }
  t.hasStrict(await get('/v1/demo/16.0.0.1'), { status: 200, json })
})

t.test('myip tells the caller, in the family the caller came by', async (t) => {
  const wire = createWire()
  const home = { asn: 'AS64501', asnName: 'Home Telecom', asnType: 'isp', asnCountry: 'FR' }
  const cloud = { asn: 'AS64500', asnName: 'Cloud Nine Ltd', asnType: 'hosting', asnCountry: 'DE' }
  for (const [from, found] of [
    ['12.0.0.1', { ipv4: '12.0.0.1', ...PLACE, ...home }],
    ['::ffff:12.0.0.1', { ipv4: '12.0.0.1', ...PLACE, ...home }],
    ['2600::1', { ipv6: '2600::1', ...cloud }],
    ['127.0.0.1', { ipv4: '127.0.0.1' }],
    ['::1', { ipv6: '::1' }],
    [UNROUTED, { ipv4: UNROUTED }],
  ] as const) {
    t.same((await wire.call('GET', '/v1/myip', { from })).json, found, from)
  }
  const { status, json } = await wire.call('GET', '/v1/myip', { from: '' })
  t.same([status, json.error], [400, 'invalid_ip'], 'without an address of the caller')
})

t.test('demo and lookup answer the same, and demo says that it is one', async (t) => {
  const { get, lookup } = await keyed()
  const [demo, answer] = [await get('/v1/demo/12.0.0.1'), await lookup('12.0.0.1')]
  t.same(demo.json, answer.json)
  t.hasStrict(demo.headers, { 'X-SVC-Demo': 'true', 'Cache-Control': 'no-store' })
  t.notOk('X-SVC-Demo' in answer.headers)
  t.hasStrict(demo.json, {
    target: { raw: '12.0.0.1', kind: 'ipv4', ip: '12.0.0.1' },
    reserved: { reserved: false },
    networkType: 'isp',
    geo: { ip: '12.0.0.1', city: 'Lyon' },
    asn: { ip: '12.0.0.1', asn: 'AS64501' },
    degraded: [],
    at: START,
  })
})

t.test('a target may be a name, which comes with its registration, or a range', async (t) => {
  const { lookup } = await keyed()
  t.hasStrict((await lookup('https://www.example.com:8443/path')).json, {
    target: { raw: 'https://www.example.com:8443/path', kind: 'hostname', hostname: 'www.example.com', ip: '11.0.0.1' },
    whois: { domain: 'example.com', ...REGISTERED },
  })
  const range = { kind: 'cidr', ip: '11.0.0.0', network: '11.0.0.0/24', addresses: 256 }
  t.hasStrict((await lookup('11.0.0.77/24')).json, { target: range })
})

t.test('every answer of every kind of address is of its schema, with nothing null or empty', async (t) => {
  const { get } = await keyed()
  const addresses = [...Object.values(ADDRESSES), UNROUTED, '127.0.0.1', '2600::1', '::1', '2001:db8::1']
  const routes = ROUTES.filter(({ path }) => path.endsWith('{ip}'))
  t.same([routes.length, ROUTES.length], [5, 20])
  for (const { path, response } of routes) {
    for (const address of addresses) {
      const { status, json, text } = await get(path.replace('{ip}', address))
      if (status === 503) continue
      t.same(response.parse(json), json, `${path} ${address}: nothing but what the schema names`)
      t.notMatch(text, /(?<!"provider"):(null|"")/, `${path} ${address}: nothing null or empty`)
    }
  }
})
