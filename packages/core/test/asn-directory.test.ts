import t from 'tap'
import { createDirectory } from '../src/asn/directory.ts'
import { createFakeNetworks, createFakeSystems, makeSystem } from '../src/testing/fakes.ts'

const SYSTEMS = createFakeSystems([
  [makeSystem({ asn: 64_500, name: 'Small Hosting' }), ['8.1.0.0/24', '8.2.0.0/24', '8.3.0.0/24']],
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

t.test('a search matches name and number, the exact number first, within its limit', async (t) => {
  const search = (query: string, limit = 20) => directory.search(query, limit).map(({ asn }) => asn)
  t.same([search(' as64500 ')[0], ...search('64500')], [64_500, 64_500, 64_502])
  t.same(search('64500', 1), [64_500])
  t.same(search('TELEFONICA'), [64_501])
})

t.test('an entry shows its largest prefixes, IPv4 before IPv6', async (t) => {
  const samples = directory.entry(64_503)?.samplePrefixes ?? []
  t.equal(samples.length, 12)
  t.ok(samples.every(({ prefix }) => prefix.endsWith('/23')))
  const list = (asn: number) => directory.entry(asn)?.samplePrefixes.map(({ prefix }) => prefix)
  t.same(list(64_502), ['2a02::/29', '2a01::/32'])
  t.same(list(64_501), ['9.0.0.0/8', '2a00::/32'])
})

t.test('an entry counts the prefixes that start inside a range list', async (t) => {
  t.match(directory.entry(64_500), { vpnRangePrefixes: 1, datacenterRangePrefixes: 2, rangesLoaded: true })
  t.match(
    createDirectory(SYSTEMS, NETWORKS, false).entry(64_500),
    { vpnRangePrefixes: 0, datacenterRangePrefixes: 0, rangesLoaded: false },
    'what is known of one list alone is not told',
  )
})
