import { makeSnapshots } from '@sallyport/core/testing'
import t from 'tap'
import { ROUTES } from '../../src/api/index.ts'
import * as schemas from './schemas.ts'
import { ADDRESSES, createWire, REGISTERED, START, UNROUTED } from './wire.ts'

const ANONYMISERS = ['vpn', 'residential_proxy', 'tor']
const BAD_ADDRESSES = [
  'nonsense',
  'example.com',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  '01.2.3.4',
  '0x7f.0.0.1',
  '2130706433',
  '1.2.3.0%2F24',
  '%5B2600::1%5D',
  '2600::1%25eth0',
  ':::',
  '1.1.1.1%20',
  '%00',
  '1.1.1.1,2.2.2.2',
]

for (const [networkClass, address] of Object.entries(ADDRESSES)) {
  t.test(`vpn, proxy and lookup agree on ${networkClass}`, async (t) => {
    const wire = createWire()
    const key = await wire.keyFor('free')
    const anonymized = ANONYMISERS.includes(networkClass)
    const vpn = (await wire.call('GET', `/v1/vpn/${address}`, { key })).json
    const proxy = (await wire.call('GET', `/v1/proxy/${address}`, { key })).json
    const body = JSON.stringify({ target: address })
    const lookup = (await wire.call('POST', '/v1/ip/lookup', { key, body })).json
    t.hasStrict(vpn, { ip: address, isVpn: anonymized, isTor: networkClass === 'tor', networkClass, anonymized })
    t.same(Object.keys(vpn), ['ip', 'isVpn', 'isTor', 'networkClass', 'anonymized', 'provider', 'riskScore'])
    const { isVpn, ...rest } = vpn
    t.same(proxy, { ...rest, isProxy: isVpn }, 'proxy says the same under its own name')
    t.hasStrict(lookup, {
      verdict: { classification: networkClass, anonymized },
      isVpn: anonymized,
      isProxy: anonymized,
      isTor: networkClass === 'tor',
      provider: vpn.provider,
      riskScore: vpn.riskScore,
    })
    t.ok(Number.isInteger(vpn.riskScore) && vpn.riskScore >= 0 && vpn.riskScore <= 100)
  })
}

t.test('the provider is the brand, or an empty text', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  t.equal((await wire.call('GET', `/v1/vpn/${ADDRESSES.vpn}`, { key })).json.provider, 'HideMe')
  t.equal((await wire.call('GET', `/v1/vpn/${ADDRESSES.unknown}`, { key })).json.provider, '')
})

t.test('an address is answered in canonical form', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  t.equal((await wire.call('GET', '/v1/vpn/2600:0:0:0::0001', { key })).json.ip, '2600::1')
  t.equal((await wire.call('GET', '/v1/asn/2600%3A%3A1', { key })).json.ip, '2600::1', 'percent-encoded')
  t.equal((await wire.call('GET', '/v1/geo/::ffff:11.0.0.1', { key })).json.ip, '11.0.0.1', 'mapped')
})

for (const path of ['/v1/demo/', '/v1/vpn/', '/v1/proxy/', '/v1/geo/', '/v1/asn/']) {
  t.test(`${path}{ip} refuses what is not an address`, async (t) => {
    const wire = createWire()
    const key = await wire.keyFor('free')
    for (const address of BAD_ADDRESSES) {
      const { status, json } = await wire.call('GET', path + address, { key })
      t.same([status, json], [400, { error: 'invalid_ip', message: 'The IPv4 or IPv6 address is not valid.' }], address)
    }
  })
}

t.test('asn names the system; what is unknown is left out', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  const asn = async (ip: string) => (await wire.call('GET', `/v1/asn/${ip}`, { key })).json
  t.same(await asn('11.0.0.1'), {
    ip: '11.0.0.1',
    asn: 'AS64500',
    name: 'Cloud Nine Ltd',
    type: 'hosting',
    country: 'DE',
  })
  t.same(await asn('13.0.0.1'), { ip: '13.0.0.1', asn: 'AS64502', name: 'Hide Me BV', type: 'vpn' })
  t.same(await asn(UNROUTED), { ip: UNROUTED, type: 'unknown' })
  t.same(await asn('10.0.0.1'), { ip: '10.0.0.1', type: 'unknown' })
})

t.test('geo places the address; what is unknown is left out', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  const geo = async (ip: string) => (await wire.call('GET', `/v1/geo/${ip}`, { key })).json
  t.same(await geo('12.0.0.1'), {
    ip: '12.0.0.1',
    country: 'France',
    countryCode: 'FR',
    city: 'Lyon',
    region: 'Auvergne-Rhône-Alpes',
    latitude: 45.75,
    longitude: 4.85,
    timezone: 'Europe/Paris',
  })
  t.same(await geo('11.0.0.1'), { ip: '11.0.0.1', country: 'Germany', countryCode: 'DE' })
  t.same(await geo(UNROUTED), { ip: UNROUTED })
  t.same(await geo('192.168.1.1'), { ip: '192.168.1.1' }, 'a reserved address is nowhere')
})

t.test('missing data is 503, never a false or an empty answer', async (t) => {
  const wire = createWire({ snapshots: makeSnapshots() })
  const key = await wire.keyFor('free')
  for (const url of ['/v1/vpn/11.0.0.1', '/v1/proxy/11.0.0.1', '/v1/asn/11.0.0.1', '/v1/geo/11.0.0.1']) {
    const answer = await wire.call('GET', url, { key })
    t.hasStrict(answer, { status: 503, json: { error: 'service_unavailable' }, headers: { 'Retry-After': '5' } }, url)
    t.equal(answer.headers['X-RateLimit-Remaining'], '30000', 'and not counted')
  }
  for (const url of ['/v1/vpn/10.0.0.1', '/v1/proxy/10.0.0.1', '/v1/asn/10.0.0.1', '/v1/geo/10.0.0.1']) {
    t.equal((await wire.call('GET', url, { key })).status, 200, `${url}: a reserved address needs no data`)
  }
  for (const url of ['/v1/asn/directory', '/v1/asn/directory?q=a', '/v1/asn/directory/64500']) {
    t.hasStrict(await wire.call('GET', url), { status: 503, headers: { 'Cache-Control': 'no-store' } }, url)
  }
  t.same((await wire.call('GET', '/v1/demo/11.0.0.1')).json.degraded, ['geo', 'asn', 'ranges'])
  t.same((await wire.call('GET', '/v1/myip', { from: '11.0.0.1' })).json, { ipv4: '11.0.0.1' })
})

t.test('a city record that cannot be read is 503 for geo, and degraded in the lookup', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  t.equal((await wire.call('GET', '/v1/geo/16.0.0.1', { key })).status, 503)
  const lookup = await wire.call('GET', '/v1/demo/16.0.0.1')
  t.hasStrict(lookup, { status: 200, json: { degraded: ['geo'], geo: { ip: '16.0.0.1' } } })
})

t.test('myip tells the caller, in the family the caller came by', async (t) => {
  const wire = createWire()
  const myip = async (from: string) => (await wire.call('GET', '/v1/myip', { from })).json
  t.same(await myip('12.0.0.1'), {
    ipv4: '12.0.0.1',
    country: 'France',
    countryCode: 'FR',
    city: 'Lyon',
    region: 'Auvergne-Rhône-Alpes',
    latitude: 45.75,
    longitude: 4.85,
    timezone: 'Europe/Paris',
    asn: 'AS64501',
    asnName: 'Home Telecom',
    asnType: 'isp',
    asnCountry: 'FR',
  })
  t.same(await myip('::ffff:12.0.0.1'), await myip('12.0.0.1'))
  t.same(await myip('2600::1'), {
    ipv6: '2600::1',
    asn: 'AS64500',
    asnName: 'Cloud Nine Ltd',
    asnType: 'hosting',
    asnCountry: 'DE',
  })
  t.same(await myip('127.0.0.1'), { ipv4: '127.0.0.1' }, 'a reserved caller gets the address and no place')
  t.same(await myip('::1'), { ipv6: '::1' })
  t.same(await myip(UNROUTED), { ipv4: UNROUTED })
})

t.test('myip without an address of the caller is 400', async (t) => {
  const { status, json } = await createWire().call('GET', '/v1/myip', { from: '' })
  t.same([status, json.error], [400, 'invalid_ip'])
})

t.test('demo and lookup answer the same, and demo says that it is one', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  const demo = await wire.call('GET', '/v1/demo/12.0.0.1')
  const lookup = await wire.call('POST', '/v1/ip/lookup', { key, body: '{"target":"12.0.0.1"}' })
  t.same(demo.json, lookup.json)
  t.hasStrict(demo.headers, { 'X-SVC-Demo': 'true', 'Cache-Control': 'no-store' })
  t.notOk('X-SVC-Demo' in lookup.headers)
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

t.test('a target may be an address, a range, a name or a URL', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  const lookup = (target: string) => wire.call('POST', '/v1/ip/lookup', { key, body: JSON.stringify({ target }) })
  const rows: readonly (readonly [string, object])[] = [
    ['11.0.0.1', { kind: 'ipv4', ip: '11.0.0.1' }],
    ['2600::1', { kind: 'ipv6', ip: '2600::1' }],
    ['11.0.0.77/24', { kind: 'cidr', ip: '11.0.0.0', network: '11.0.0.0/24', addresses: 256 }],
    ['11.0.0.0/16', { kind: 'cidr', addresses: 65_536 }],
    ['www.example.com', { kind: 'hostname', hostname: 'www.example.com', ip: '11.0.0.1' }],
    ['https://www.example.com:8443/path', { kind: 'hostname', hostname: 'www.example.com', ip: '11.0.0.1' }],
    ['http://[2600::1]:80/', { kind: 'ipv6', ip: '2600::1' }],
  ]
  for (const [target, wanted] of rows) {
    const { status, json } = await lookup(target)
    t.equal(status, 200, target)
    t.hasStrict(json.target, { raw: target, ...wanted }, target)
  }
  t.notOk('addresses' in (await lookup('11.0.0.0/15')).json.target, 'wider than 65,536')
  t.same((await lookup('www.example.com')).json.whois, { domain: 'example.com', ...REGISTERED })
  for (const target of ['', 'a b', '999.1.1.1', '1.1.1.1/33', 'no-such-tld', 'x'.repeat(3000)]) {
    t.hasStrict(await lookup(target), { status: 400, json: { error: 'invalid_target' } }, target.slice(0, 20))
  }
  for (const target of ['absent.example.com', 'gone.example.com']) {
    t.hasStrict(await lookup(target), { status: 400, json: { error: 'unresolved_target' } }, target)
  }
})

t.test('every answer of every kind of address is of its schema, with nothing null or empty', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  const addresses = [...Object.values(ADDRESSES), UNROUTED, '127.0.0.1', '2600::1', '::1', '2001:db8::1']
  const checked: readonly (readonly [string, { parse(value: unknown): unknown }])[] = [
    ['/v1/demo/', schemas.LookupResult],
    ['/v1/vpn/', schemas.VpnResponse],
    ['/v1/proxy/', schemas.ProxyResponse],
    ['/v1/geo/', schemas.GeolocationResponse],
    ['/v1/asn/', schemas.AsnResponse],
  ]
  for (const [path, schema] of checked) {
    for (const address of addresses) {
      const { status, json } = await wire.call('GET', path + address, { key })
      if (status === 503) continue
      t.same(schema.parse(json), json, `${path}${address}: nothing but what the schema names`)
      t.same(emptyMembers(json), [], `${path}${address}: nothing null or empty`)
    }
  }
  t.equal(ROUTES.length, 20)
})

/** Names of members that are null or empty; `provider` alone may be an empty text. */
function emptyMembers(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    member === null || (member === '' && name !== 'provider') ? [name] : emptyMembers(member),
  )
}
