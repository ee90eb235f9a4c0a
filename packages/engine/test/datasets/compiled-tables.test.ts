import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatPrefix } from '@sallyport/core'
import { createRandom, makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { tablesPath } from '../../src/datasets/compile/compiled-path.ts'
import { compileTables } from '../../src/datasets/index.ts'
import { addressFrom, folder, openTables, randomBits, writeSources } from './fixtures.ts'

const ASN4 = [
  '23.0.0.0,23.0.0.255,64500,"Access, Inc."',
  '23.0.1.0,23.0.3.255,64501,Hosting Łódź',
  '23.0.5.0,23.0.5.255,64500,"Access, Inc."',
  '23.0.6.0,23.0.6.127,64500,"Access, Inc."',
].join('\n')

const ALL = {
  'asn-csv-v4': ASN4,
  'asn-csv-v6': '2a00:1::,2a00:1:ffff:ffff:ffff:ffff:ffff:ffff,64501,Hosting Łódź\n2a00:2::8,2a00:2::f,64502,Six only',
  'asn-country-v4': '23.0.0.0,23.0.0.255,DE\n23.0.1.0,23.0.2.255,PL\n23.0.3.0,23.0.3.255,CZ\n23.0.5.0,23.0.6.255,FR',
  'asn-country-v6': '2a00:1::,2a00:1:ffff:ffff:ffff:ffff:ffff:ffff,US\n2a00:2::,2a00:2::ffff,SE',
  'x4bnet-vpn-ipv4': '23.0.1.0/25\n23.0.9.0/24',
  'x4bnet-dc-ipv4': '23.0.1.0/24\n23.0.2.0/24',
  'tor-bulk-exit': '23.0.1.5\n23.0.2.6\n2a00:1::7',
}

t.test('one search answers the system and what the lists say', async (t) => {
  const { networks, rangesLoaded } = await openTables(t, ALL)
  const at = (text: string) => networks?.find(makeAddress(text))
  t.equal(rangesLoaded, true)
  t.match(at('23.0.0.0'), { system: { asn: 64500, name: 'Access, Inc.', country: 'FR' }, inVpnRanges: false })
  t.equal(at('23.0.0.7')?.range, undefined)
  t.match(at('23.0.1.0'), {
    system: { asn: 64501, name: 'Hosting Łódź' },
    range: { networkClass: 'vpn', single: false, source: 'x4bnet-vpn-ipv4', provider: '' },
    inVpnRanges: true,
    inDatacenterRanges: true,
  })
  t.match(at('23.0.1.128'), { range: { networkClass: 'hosting' }, inVpnRanges: false, inDatacenterRanges: true })
  t.match(at('23.0.9.1'), { system: undefined, range: { networkClass: 'vpn' }, inVpnRanges: true })
  for (const text of ['23.0.4.0', '22.255.255.255', '255.255.255.255']) t.equal(at(text), undefined, text)
  t.match(at('2a00:1::1'), { system: { asn: 64501 }, inVpnRanges: false })
  // A listed single address comes before any range.
  const single = { networkClass: 'tor', single: true, source: 'tor-bulk-exit' }
  t.match(at('23.0.1.5'), { range: single, inVpnRanges: true, inDatacenterRanges: true })
  t.match(at('23.0.2.6'), { range: single, inVpnRanges: false, inDatacenterRanges: true })
  t.match(at('2a00:1::7'), { system: { asn: 64501 }, range: single })
  t.equal(at('2a00:1::8')?.range, undefined)
  const home = at('23.0.0.1')
  for (const shared of [home, home?.system, at('23.0.1.0')?.range]) t.ok(Object.isFrozen(shared), 'visitors share it')
})

t.test('systems are counted by the minimal cover of their ranges, whatever lists cut through them', async (t) => {
  const { systems } = await openTables(t, ALL)
  if (systems === undefined) return t.fail('no systems')
  t.equal(systems.size, 3)
  t.same([64500, 64501, 64502, 64503, 0].map(systems.indexOf), [0, 1, 2, -1, -1])
  const shown = [0, 1, 2].map((index) => ({
    counts: [systems.ipv4Prefixes(index), systems.ipv6Prefixes(index), systems.ipv4Addresses(index)],
    prefixes: systems.prefixes(index).map(formatPrefix),
  }))
  t.same(shown, [
    { counts: [3, 0, 640], prefixes: ['23.0.0.0/24', '23.0.5.0/24', '23.0.6.0/25'] },
    { counts: [2, 1, 768], prefixes: ['23.0.1.0/24', '23.0.2.0/23', '2a00:1::/32'] },
    { counts: [0, 1, 0], prefixes: ['2a00:2::8/125'] },
  ])
  const countries = [0, 1, 2].map((index) => systems.system(index).country)
  t.same(countries, ['FR', 'PL', 'SE'], 'where most of its IPv4 addresses are; IPv6 decides without any')
  const without = await openTables(t, { 'asn-csv-v4': ASN4, 'asn-country-v4': '5.0.0.0,5.0.0.255,IT' })
  t.notOk('country' in (without.systems?.system(0) ?? {}), 'unknown is absent')
})

t.test('a search equals a linear scan over the ranges, at and around every end', async (t) => {
  for (const family of [4, 6] as const) {
    const random = createRandom(family)
    const bits = family === 4 ? 32 : 128
    const { rows, text } = randomRanges(random, family)
    const { networks } = await openTables(t, { [`asn-csv-v${family}`]: text })
    const top = (1n << BigInt(bits)) - 1n
    const points = rows
      .flatMap(({ first, last }) => [first - 1n, first, first + 1n, last - 1n, last, last + 1n])
      .concat(Array.from({ length: 200 }, () => randomBits(random, bits)))
      .filter((point) => point >= 0n && point <= top)
    const wrong = points.filter((point) => {
      const holding = rows.filter(({ first, last }) => first <= point && point <= last)
      const smallest = holding.toSorted((x, y) => Number(x.last - x.first - (y.last - y.first)))[0]
      return networks?.find(addressFrom(family, point))?.system?.asn !== smallest?.asn
    })
    t.same(wrong, [], `IPv${family}: ${points.length} addresses`)
  }
})

/** Nested and crossing ranges of different sizes, of which many lie close together or below one /64. */
function randomRanges(random: (below: number) => number, family: 4 | 6) {
  const bits = family === 4 ? 32 : 128
  const space = 1n << BigInt(bits)
  const anchors = Array.from({ length: 12 }, () =>
    family === 6 ? (1n << 125n) | (randomBits(random, 128) >> 3n) : randomBits(random, 32),
  )
  // Equal sizes would leave open which of two ranges is the smaller.
  const sizes = new Set([2n, 3n])
  const edges = [
    { first: 0n, last: 3n, asn: 401 },
    { first: space - 3n, last: space - 1n, asn: 402 },
  ]
  const drawn = Array.from({ length: 400 }, (_, index) => {
    const shift = BigInt(bits - random(bits - 4) - 4)
    const offset = randomBits(random, bits) >> shift
    const first = ((anchors[random(anchors.length)] as bigint) + offset) % space
    let last = first + (randomBits(random, bits) >> BigInt(random(bits - 4) + 4))
    while (last < space && sizes.has(last - first)) last++
    sizes.add(last - first)
    return { first, last: last < space ? last : space - 1n, asn: index + 1 }
  })
  const rows = [...edges, ...drawn].filter(
    ({ first, last }) => family === 4 || first >> 32n > 0xffffn || last < 0xffff00000000n,
  )
  const text = rows
    .map(({ first, last, asn }) => `${readText(family, first)},${readText(family, last)},${asn},Name ${asn}`)
    .join('\n')
  return { rows, text }
}

function readText(family: 4 | 6, bits: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.')
  return Array.from({ length: 8 }, (_, group) => ((bits >> BigInt(112 - 16 * group)) & 0xffffn).toString(16)).join(':')
}

t.test('the name of the file tells what it was made from', async (t) => {
  const dir = folder(t)
  const sources = writeSources(dir, { 'asn-csv-v4': ASN4 })
  const path = tablesPath(dir, sources)
  t.match(path, /tables-[0-9a-f]{16}\.bin$/)
  t.equal(tablesPath(dir, sources), path)
  const origin = '2.3.2026061719'
  const changes = [{ size: 1 }, { modified: 1 }, { origin }, { path: '/else' }]
  const pathAfter = (change: object) => {
    const changed = sources.map(({ file, ...rest }) => (file ? { ...rest, file: { ...file, ...change } } : rest))
    return tablesPath(dir, changed)
  }
  const others = changes.map(pathAfter)
  t.equal(new Set([path, ...others, tablesPath(dir, writeSources(dir, {}))]).size, 6, 'every change is another name')
  const elsewhere = pathAfter({ origin, path: '/image/asn.csv', modified: 1 })
  t.equal(elsewhere, pathAfter({ origin }), 'a file of a package is the same wherever and whenever it was unpacked')
})

t.test('compiling keeps the file before and removes what is older', async (t) => {
  const dir = folder(t)
  const paths: string[] = []
  for (const extra of ['', '\n', '\n\n']) {
    const { path } = await compileTables({ dataDir: dir, sources: writeSources(dir, { 'asn-csv-v4': ASN4 + extra }) })
    const day = paths.length + 1
    utimesSync(path, day, day)
    paths.push(path)
  }
  writeFileSync(join(dir, 'tables-abandoned.bin.1.tmp'), '')
  utimesSync(join(dir, 'tables-abandoned.bin.1.tmp'), 1, 1)
  writeFileSync(join(dir, 'tables-running.bin.1.tmp'), '')
  writeFileSync(join(dir, 'state.db'), '')
  await compileTables({ dataDir: dir, sources: writeSources(dir, { 'asn-csv-v4': `${ASN4}\n\n\n` }) })
  t.same(paths.map(existsSync), [false, false, true])
  const left = readdirSync(dir).filter((name) => name !== 'sources' && name !== 'parsed')
  t.equal(left.filter((name) => name.endsWith('.bin')).length, 2)
  t.same(left.filter((name) => !name.endsWith('.bin')).sort(), ['state.db', 'tables-running.bin.1.tmp'])
})

t.test('the directory of systems is compiled: orders, and names without case and accents', async (t) => {
  const { systems } = await openTables(t, {
    'asn-csv-v4': [
      '5.0.0.0,5.0.0.255,64510,Telefónica Uno',
      '6.0.0.0,6.0.3.255,64511,Łódź Net',
      '7.0.0.0,7.0.0.127,64512,Uno Dos',
      '7.0.0.192,7.0.0.255,64512,Uno Dos',
      '7.0.2.0,7.0.2.63,64512,Uno Dos',
    ].join('\n'),
    'asn-csv-v6': '2a00:1::,2a00:1:ffff:ffff:ffff:ffff:ffff:ffff,64513,日本 Six',
  })
  const asns = (indexes: readonly number[] | undefined) => indexes?.map((index) => systems?.system(index).asn)
  t.same(asns(systems?.largest('addresses', 9)), [64511, 64510, 64512, 64513])
  t.same(asns(systems?.largest('addresses', 2)), [64511, 64510])
  t.same(asns(systems?.largest('prefixes', 9)), [64512, 64510, 64511, 64513])
  t.same(asns(systems?.named('telefonica', 9)), [64510])
  t.same(asns(systems?.named('uno', 9)), [64510, 64512])
  t.same(asns(systems?.named('uno', 1)), [64510])
  t.same(asns(systems?.named('日本', 9)), [64513])
  t.same(asns(systems?.named('', 9)), [64511, 64510, 64512, 64513])
  t.same(asns(systems?.named('no such', 9)), [])
  t.same(asns(systems?.named('uno\nuno', 9)), [], 'no text is found across two names')
  const indexes = [64509, 64510, 64513, 64514, 0].map((asn) => systems?.indexOf(asn))
  t.same(indexes, [-1, 0, 3, -1, -1])
})
