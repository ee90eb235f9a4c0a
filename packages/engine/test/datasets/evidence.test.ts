import { classify, PRIVATE_RELAY } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { openTables, writeServers } from './fixtures.ts'

/** Unnamed by any rule, a cloud of the operator table, a home network of it, a Tor operator, and hosts by name. */
const ASN4 = [
  '23.0.0.0,23.0.3.255,64500,Plain Words AB',
  '23.0.8.0,23.0.23.255,64501,Wishbone Hosting',
  '23.1.0.0,23.1.3.255,16509,"Amazon.com, Inc."',
  '23.2.0.0,23.2.3.255,7922,"Comcast Cable Communications, LLC"',
  '23.3.0.0,23.3.0.255,60729,Stiftung Erneuerbare Freiheit',
  '23.4.0.0,23.4.3.255,64502,Kent Cable Telecom',
  '23.5.0.0,23.5.15.255,64503,Rented Servers Hosting',
].join('\n')

async function finder(t: Test, files: Readonly<Record<string, string>>) {
  const opened = await openTables(t, { 'asn-csv-v4': ASN4, ...files })
  const { networks, sources, rangesLoaded, proxiesLoaded, systems } = opened
  if (networks === undefined || systems === undefined) throw new Error('nothing was compiled')
  return {
    proxiesLoaded,
    system: (asn: number) => systems.system(systems.indexOf(asn)),
    record: (text: string) => networks.find(makeAddress(text)),
    finding: (text: string) => classify(makeAddress(text), { networks, sources, rangesLoaded, proxiesLoaded }),
  }
}

t.test('every list that holds a place is named, in order of precedence, with the width of its prefix', async (t) => {
  const { record, finding } = await finder(t, {
    'x4bnet-vpn-ipv4': '23.0.8.0/24\n23.0.9.0/25\n23.0.10.0/23',
    'x4bnet-dc-ipv4': '23.0.8.0/22',
    'lord-alfred-apple-ipv4': '23.0.8.128/25',
    'lord-alfred-apple-ipv6': '2a00:1::/48\n2a00:2::/47',
  })
  t.match(record('23.0.8.1'), {
    range: { source: 'x4bnet-vpn-ipv4', narrow: true, rule: 'list', trust: 0.85 },
    also: [{ source: 'x4bnet-dc-ipv4', narrow: false }],
  })
  t.match(record('23.0.10.1'), { range: { source: 'x4bnet-vpn-ipv4', narrow: false } })
  const wide = ['2a00:1::1', '2a00:2::1'].map((address) => record(address)?.range?.narrow)
  t.same(wide, [true, false], 'a /48 is one customer, and a /47 is two')
  const { range, also = [] } = record('23.0.8.200') ?? {}
  const named = [range, ...also].map((hit) => hit?.source)
  t.same(named, ['lord-alfred-apple-ipv4', 'x4bnet-vpn-ipv4', 'x4bnet-dc-ipv4'])
  t.match(finding('23.0.8.200'), { provider: PRIVATE_RELAY, agreeing: ['x4bnet-vpn-ipv4'], rule: 'range_list' })
  t.same(record('23.0.0.1')?.also, [])
  t.match(finding('23.0.11.1'), { verdict: { classification: 'vpn' } })
})

t.test('a /24 with three exits is full of them, a leased one with five, one exit is a doubt', async (t) => {
  const exitsIn = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}.${(index * 80 + 4) % 256}/32`)
  const { finding } = await finder(t, {
    'x4bnet-vpn-ipv4': [
      ...exitsIn('23.0.8', 3),
      ...exitsIn('23.0.9', 2),
      ...exitsIn('23.0.0', 3),
      ...exitsIn('23.1.0', 9),
      ...[64, 70, 71, 100].map((last) => `23.1.1.${last}`),
      ...[0, 9, 63].map((last) => `23.1.2.${last}`),
      ...exitsIn('23.2.0', 5),
      ...exitsIn('23.2.1', 4),
      '23.0.10.4',
      '23.0.10.9',
    ].join('\n'),
  })
  t.match(finding('23.0.8.250'), {
    verdict: { classification: 'vpn', method: 'range:vpn', confidence: 0.76 },
    rule: 'exit_density',
    source: 'exit-density',
    sourceDate: /^\d{4}-\d\d-\d\d$/,
  })
  t.match(finding('23.0.8.4'), { rule: 'range_list', agreeing: ['exit-density'] }, 'a listed exit is listed')
  const inDoubt = { verdict: { classification: 'vpn', confidence: 0.56 }, rule: 'exit_density' }
  t.match(finding('23.0.9.250'), inDoubt, 'two in a /24 may be neighbours by chance')
  t.match(finding('23.0.10.60'), { verdict: { classification: 'vpn', confidence: 0.76 } }, 'two in one row are not')
  t.match(finding('23.0.10.70'), inDoubt, 'and are a weak sign for the next row')
  t.equal(finding('23.0.11.1').verdict.classification, 'hosting', 'and none for the next block')
  t.equal(finding('23.0.0.250').verdict.classification, 'vpn', 'of a system that nobody knows')
  t.equal(finding('23.1.0.250').verdict.classification, 'datacenter', 'three in a row of a cloud are three tenants')
  t.match(finding('23.1.1.127'), inDoubt, 'four are one that has rented a row')
  t.equal(finding('23.1.1.128').verdict.classification, 'datacenter')
  t.equal(finding('23.1.2.40').verdict.classification, 'datacenter')
  t.equal(finding('23.2.0.250').verdict.classification, 'vpn', 'an access network leases blocks out')
  t.equal(finding('23.2.1.250').verdict.classification, 'residential_clean', 'and has exits of its customers')
})

t.test('a host of VPN services and of others is judged by what is near, and else in doubt', async (t) => {
  const { finding } = await finder(t, {
    'asn-csv-v6': '2a00:1234::,2a00:1234:ffff:ffff:ffff:ffff:ffff:ffff,64503,Rented Servers Hosting',
    'gluetun-servers': writeServers({ ivpn: ['23.5.8.4', '23.5.9.4'], nordvpn: ['23.5.10.4'], privado: ['23.5.11.4'] }),
    'x4bnet-vpn-ipv4': '23.5.0.4/32\n23.5.2.0/23',
    'x4bnet-vpn-ipv6': '2a00:1234:5::1/128',
    'x4bnet-dc-ipv4': '23.5.0.0/22',
    'edges-bunny-v4': '23.5.0.9\n23.5.2.7',
  })
  const inDoubt = { verdict: { classification: 'vpn', method: 'asn' }, rule: 'mixed_system' }
  t.match(finding('23.5.0.200'), { ...inDoubt, verdict: { ...inDoubt.verdict, confidence: 0.55 } })
  t.match(finding('23.5.3.1'), { ...inDoubt, verdict: { ...inDoubt.verdict, confidence: 0.6 } }, 'of the whole host')
  t.match(finding('23.5.0.60'), { verdict: { classification: 'vpn' }, rule: 'exit_density' }, 'in an exit’s row')
  t.ok(finding('23.5.0.60').verdict.confidence > 0.6)
  for (const edge of ['23.5.0.9', '23.5.2.7']) {
    const datacenter = { verdict: { classification: 'datacenter' }, rule: 'range_list', provider: 'bunny.net' }
    t.match(finding(edge), datacenter, edge)
  }
  t.match(finding('2a00:1234:5:7::9'), { verdict: { classification: 'vpn' }, rule: 'exit_density' })
  t.match(finding('2a00:1234:6::9'), inDoubt)
})

t.test('listed proxies make the lines beside them suspect for as long as the list holds', async (t) => {
  const day = Math.floor(Date.now() / 86_400_000)
  const { record, finding } = await finder(t, {
    'avastel-1day':
      'ip;autonomous_system\n23.2.0.7;Comcast\n23.2.0.70;Comcast\n23.2.1.7;Comcast\n23.1.0.1;A\n23.1.0.2;A',
  })
  t.match(record('23.2.0.9'), { near: { source: 'proxy-neighbours', networkClass: 'residential_proxy' } })
  t.equal(record('23.2.0.9')?.range, undefined)
  t.ok((record('23.2.0.9')?.near?.expires ?? 0) >= day)
  t.match(finding('23.2.0.9'), { verdict: { classification: 'residential_clean' }, near: 'proxy-neighbours' })
  t.equal(finding('23.2.1.9').near, undefined, 'one is anybody')
  t.equal(finding('23.1.0.9').near, undefined, 'a cloud is no line')
  t.equal(finding('23.2.0.7').verdict.classification, 'residential_proxy')
})

t.test('lists of its prefixes type a system without a telling name', async (t) => {
  const rows: readonly (readonly [files: Readonly<Record<string, string>>, expected: string, asn?: number])[] = [
    [{}, 'unknown unknown none'],
    [{ 'x4bnet-dc-ipv4': '23.0.0.0/23' }, 'hosting hosting prefixes'],
    [{ 'x4bnet-dc-ipv4': '23.0.0.0/24' }, 'unknown unknown none'],
    [{ 'geofeed-verizon-wireless': '23.0.0.0/23,US,US-NY,X,' }, 'mobile mobile prefixes'],
    [{ 'geofeed-verizon-wireline': '23.0.0.0/23,US,US-NY,X,' }, 'isp residential_clean prefixes'],
    [{ 'tor-bulk-exit': '23.0.0.1' }, 'hosting hosting prefixes'],
    [{ 'x4bnet-vpn-ipv4': '23.0.0.1/32\n23.0.1.1/32' }, 'vpn vpn prefixes'],
    [{ 'x4bnet-dc-asn': 'AS64500 # plain' }, 'hosting hosting list x4bnet-dc-asn'],
    // A name that sells access stands unless nearly all is listed as machines.
    [{}, 'isp residential_clean name', 64_502],
    [{ 'x4bnet-dc-ipv4': '23.4.0.0/23' }, 'isp residential_clean name', 64_502],
    [{ 'x4bnet-dc-ipv4': '23.4.0.0/22' }, 'hosting hosting prefixes', 64_502],
    [{ 'tor-bulk-exit': '23.4.0.1' }, 'isp residential_clean name', 64_502],
  ]
  for (const [files, expected, asn = 64_500] of rows) {
    const { type, networkClass, basis, list = '' } = (await finder(t, files)).system(asn)
    t.equal(`${type} ${networkClass} ${basis} ${list}`.trim(), expected, JSON.stringify(files))
  }
})

const scatter = (octet: number, asn: number, name: string, first = 23) =>
  Array.from({ length: 20 }, (_, at) => `${first + at}.7.${octet}.0,${first + at}.7.${octet}.255,${asn},${name}`)
const COUNTRIES = { 'asn-country-v4': '23.0.0.0,35.255.255.255,DE\n36.0.0.0,50.0.0.0,FR' }
/** A host is in each of the /16s that a scattered system is in. */
const BESIDE = scatter(240, 64_512, 'Wishbone Hosting')

t.test('reverse names of lines veto the outline, and are a second sign beside weak words', async (t) => {
  const plain = [...scatter(1, 64_510, 'Plain Words AB'), ...scatter(1, 64_511, 'Made Networks', 63)]
  const six = [0, 1, 2].map((at) => `2a00:${at}::,2a00:${at}:ffff:ffff:ffff:ffff:ffff:ffff,64510,Plain Words AB`)
  const files = { 'asn-csv-v4': [...plain, ...BESIDE].join('\n'), 'asn-csv-v6': six.join('\n'), ...COUNTRIES }
  const typesWith = async (more: Readonly<Record<string, string>>) => {
    const { system } = await finder(t, { ...files, ...more })
    return [system(64_510), system(64_511)].map(({ type, basis }) => `${type} ${basis}`)
  }
  t.same(await typesWith({}), ['hosting shape', 'unknown none'])
  t.same(await typesWith({ 'oxl-line-names': '23.7.1.9\n64.7.1.77' }), ['unknown none', 'isp name'])
  const { finding } = await finder(t, { ...files, 'oxl-line-names': '23.7.1.9' })
  t.equal(finding('23.7.1.9').verdict.classification, 'unknown', 'no class of the address itself')
})

t.test('a Tor operator is all exits until a list says which of its addresses are', async (t) => {
  const unlisted = await finder(t, {})
  t.equal(unlisted.finding('23.3.0.9').verdict.classification, 'tor')
  const { finding, system } = await finder(t, { 'tor-bulk-exit': '23.3.0.1' })
  t.match(finding('23.3.0.1'), { verdict: { classification: 'tor', method: 'ip_state' }, rule: 'address_list' })
  t.equal(finding('23.3.0.9').verdict.classification, 'hosting')
  t.equal(system(60_729).type, 'tor', 'whose network it is does not change')
})

t.test('home lines are surer where residential proxies can be seen', async (t) => {
  const without = await finder(t, {})
  t.equal(without.proxiesLoaded, false)
  t.ok(without.finding('23.2.0.1').verdict.confidence <= 0.6)
  const { proxiesLoaded, finding } = await finder(t, { 'avastel-1day': 'ip;autonomous_system\n23.2.0.7;Comcast' })
  t.equal(proxiesLoaded, true)
  t.equal(finding('23.2.0.1').verdict.confidence, 0.8)
  t.match(finding('23.2.0.7'), { verdict: { classification: 'residential_proxy', method: 'ip_state' }, provider: '' })
})

t.test('a line is in doubt where two signs speak of a machine, and where one does it is not', async (t) => {
  const proxies = 'ip;autonomous_system\n23.2.0.7;Comcast\n23.2.0.70;Comcast\n23.2.1.7;Comcast\n23.2.1.70;Comcast'
  const { record, finding } = await finder(t, {
    'avastel-1day': proxies,
    'x4bnet-vpn-ipv4': '23.2.0.200/32\n23.2.2.200/32\n23.1.0.200/32',
  })
  const home = (confidence: number) => ({ verdict: { classification: 'residential_clean', confidence } })
  t.match(record('23.2.2.9'), { exitsBeside: { source: 'exit-neighbours', networkClass: 'vpn' } })
  t.match(finding('23.2.0.9'), home(0.5), 'listed proxies and an exit')
  t.match(finding('23.2.1.9'), home(0.8), 'listed proxies alone')
  t.match(finding('23.2.2.9'), home(0.8), 'an exit alone')
  t.equal(record('23.1.0.9')?.exitsBeside, undefined, 'a cloud is no line')
})

t.test('a network that sells access by its name alone, and looks like a host, is in doubt', async (t) => {
  const systems = [...scatter(1, 64_510, 'Made Broadband'), ...BESIDE].join('\n')
  const { system, finding } = await finder(t, { 'asn-csv-v4': systems, ...COUNTRIES })
  t.match(system(64_510), { type: 'isp', basis: 'name', hostLike: true })
  t.equal(system(64_512).hostLike, undefined)
  t.match(finding('23.7.1.9'), { verdict: { classification: 'residential_clean', confidence: 0.5 } })
  const { finding: other } = await finder(t, { 'tor-bulk-exit': '23.2.0.200\n23.4.0.200' })
  t.equal(other('23.4.0.9').verdict.confidence, 0.5, 'a name alone, and an exit')
  t.equal(other('23.4.1.9').verdict.confidence, 0.6, 'a name alone')
  t.equal(other('23.2.0.9').verdict.confidence, 0.6, 'an exit, of a known carrier')
})
