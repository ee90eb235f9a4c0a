import t from 'tap'
import { createDirectory } from '../src/asn/directory.ts'
import { parseAsn } from '../src/asn/number.ts'
import { createFakeNetworks, createFakeSystems, makeSystem } from '../src/testing/fakes.ts'

const SYSTEMS = createFakeSystems([
  [
    makeSystem({ asn: 64_500, name: 'Small Hosting', type: 'hosting', networkClass: 'hosting' }),
    ['8.1.0.0/24', '8.2.0.0/24', '8.3.0.0/24'],
  ],
  [makeSystem({ asn: 64_501, name: 'Telefónica Example' }), ['9.0.0.0/8', '2a00::/32']],
  [makeSystem({ asn: 64_502, name: 'Six Only 64500' }), ['2a01::/32', '2a02::/29']],
  [
    makeSystem({ asn: 64_503, name: 'Many Samples' }),
    Array.from({ length: 20 }, (_, index) => `11.${index}.0.0/${index < 8 ? 24 : 23}`),
  ],
])

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/25', { inVpnRanges: true }],
  ['8.2.0.128/25', { inVpnRanges: true }],
  ['8.0.0.0/7', { inDatacenterRanges: true }],
])

const directory = createDirectory(SYSTEMS, NETWORKS, true)

t.test('the top list is ordered by addresses or by prefixes', async (t) => {
  t.same(
    directory.top('addresses', 2).map(({ asn }) => asn),
    [64_501, 64_503],
  )
  t.same(
    directory.top('prefixes', 3).map(({ asn }) => asn),
    [64_503, 64_500, 64_501],
  )
  t.equal(directory.total, 4)
})

t.test('a summary counts both families and IPv4 addresses only', async (t) => {
  t.same(directory.top('addresses', 1), [
    {
      asn: 64_501,
      label: 'AS64501',
      org: 'Telefónica Example',
      networkType: 'unknown',
      ipv4Prefixes: 1,
      ipv6Prefixes: 1,
      prefixes: 2,
      addresses: 2 ** 24,
    },
  ])
})

t.test('a search matches name and number, the exact number first', async (t) => {
  for (const query of ['64500', 'AS64500', ' as64500 ']) t.equal(directory.search(query, 20)[0]?.asn, 64_500)
  t.same(
    directory.search('64500', 20).map(({ asn }) => asn),
    [64_500, 64_502],
  )
  t.same(
    directory.search('64500', 1).map(({ asn }) => asn),
    [64_500],
  )
  t.same(
    directory.search('TELEFONICA', 20).map(({ asn }) => asn),
    [64_501],
  )
  t.same(directory.search('nowhere', 20), [])
})

t.test('an entry shows its largest prefixes, IPv4 before IPv6', async (t) => {
  const samples = directory.entry(64_503)?.samplePrefixes ?? []
  t.equal(samples.length, 12)
  t.ok(samples.every(({ prefix }) => prefix.endsWith('/23')))
  t.same(directory.entry(64_502)?.samplePrefixes, [
    { prefix: '2a02::/29', version: 6 },
    { prefix: '2a01::/32', version: 6 },
  ])
  t.same(directory.entry(64_501)?.samplePrefixes, [
    { prefix: '9.0.0.0/8', version: 4, addresses: 2 ** 24 },
    { prefix: '2a00::/32', version: 6 },
  ])
})

t.test('an entry counts the prefixes that start inside a range list', async (t) => {
  t.match(directory.entry(64_500), { vpnRangePrefixes: 1, datacenterRangePrefixes: 2, rangesLoaded: true })
  t.match(
    createDirectory(SYSTEMS, NETWORKS, false).entry(64_500),
    { vpnRangePrefixes: 0, datacenterRangePrefixes: 0, rangesLoaded: false },
    'what is known of one list alone is not told',
  )
  t.equal(directory.entry(65_000), undefined)
})

t.test('a number is read with or without AS and nothing else', async (t) => {
  t.equal(parseAsn('AS13335'), 13_335)
  t.equal(parseAsn('as0'), 0)
  t.equal(parseAsn('4294967295'), 4_294_967_295)
  for (const text of ['', 'AS', '4294967296', '-1', '1.5', '1e3', 'AS 1', '0x10', '١', '99999999999']) {
    t.equal(parseAsn(text), undefined, JSON.stringify(text))
  }
})
