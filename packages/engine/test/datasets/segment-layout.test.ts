import { address4, address6, formatAddress } from '@sallyport/core'
import { createRandom, makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { layHits } from '../../src/datasets/compile/hit-sets.ts'
import { layOut } from '../../src/datasets/ranges/layout.ts'
import { createRangeWriter, WORDS } from '../../src/datasets/ranges/ranges.ts'
import { overlay, readBounds, uniform, valueAt4 } from '../../src/datasets/ranges/segments.ts'

type Row = readonly [first: string, last: string, value: number]

function ranges(...rows: readonly Row[]) {
  const writer = createRangeWriter(makeAddress(rows[0]?.[0] ?? '0.0.0.0').family, 2)
  for (const [first, last, value] of rows) writer.add(makeAddress(first), makeAddress(last), value)
  return writer.finish()
}

function readText(column: Uint32Array): string {
  const [a = 0, b = 0, c = 0, d = 0] = column
  return formatAddress(column.length === 1 ? address4(a) : address6(a, b, c, d))
}

/** Writes every segment as `first-last=value`. */
function writeSegments(segments: ReturnType<typeof layOut>): readonly string[] {
  return Array.from({ length: segments.count }, (_, index) => {
    const width = WORDS[segments.family]
    const bounds = { first: new Uint32Array(width), last: new Uint32Array(width) }
    readBounds(segments, index, bounds)
    return `${readText(bounds.first)}-${readText(bounds.last)}=${segments.values[index]}`
  })
}

t.test('gaps get value 0, and neighbours of one value are one segment', async (t) => {
  const laid = layOut(ranges(['10.0.0.0', '10.0.0.255', 1], ['10.0.1.0', '10.0.1.255', 1], ['10.0.3.0', '10.0.3.0', 2]))
  t.same(writeSegments(laid), [
    '0.0.0.0-9.255.255.255=0',
    '10.0.0.0-10.0.1.255=1',
    '10.0.2.0-10.0.2.255=0',
    '10.0.3.0-10.0.3.0=2',
    '10.0.3.1-255.255.255.255=0',
  ])
})

t.test('the smallest of overlapping ranges decides, nested or crossing, in whatever order they come', async (t) => {
  const rows = [
    ['10.0.0.64', '10.0.0.95', 2],
    ['10.0.0.0', '10.0.0.255', 1],
    ['10.0.0.80', '10.0.0.80', 3],
    ['10.0.0.240', '10.0.1.1', 4],
  ] as const
  const expected = [
    '0.0.0.0-9.255.255.255=0',
    '10.0.0.0-10.0.0.63=1',
    '10.0.0.64-10.0.0.79=2',
    '10.0.0.80-10.0.0.80=3',
    '10.0.0.81-10.0.0.95=2',
    '10.0.0.96-10.0.0.239=1',
    '10.0.0.240-10.0.1.1=4',
    '10.0.1.2-255.255.255.255=0',
  ]
  t.same(writeSegments(layOut(ranges(...rows))), expected)
  t.same(writeSegments(layOut(ranges(...rows.toReversed()))), expected)
})

t.test('ranges may reach from the first address of a family to its last', async (t) => {
  t.same(writeSegments(layOut(ranges(['0.0.0.0', '255.255.255.255', 5]))), ['0.0.0.0-255.255.255.255=5'])
  const top = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'
  t.same(writeSegments(layOut(ranges(['::', top, 5], [top, top, 6]))), [
    '::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe=5',
    `${top}-${top}=6`,
  ])
})

t.test('a cut carries through all words of an IPv6 address', async (t) => {
  const laid = layOut(ranges(['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 1]))
  t.same(writeSegments(laid).slice(1), [
    '2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff=1',
    '2001:db9::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff=0',
  ])
})

t.test('layers are combined wherever one of them changes', async (t) => {
  const systems = layOut(ranges(['10.0.0.0', '10.0.0.255', 1]))
  const list = layOut(ranges(['10.0.0.128', '10.0.1.255', 2]))
  const both = overlay(
    overlay(systems, list, (x, y) => x * 10 + y),
    uniform(4, 0),
    (x, y) => x + y,
  )
  t.same(writeSegments(both), [
    '0.0.0.0-9.255.255.255=0',
    '10.0.0.0-10.0.0.127=10',
    '10.0.0.128-10.0.0.255=12',
    '10.0.1.0-10.0.1.255=2',
    '10.0.2.0-255.255.255.255=0',
  ])
})

t.test('each place has the hits of all lists that hold it, in the order of the lists', async (t) => {
  const random = createRandom(11)
  const lists = Array.from({ length: 7 }, (_, list) => ({
    4: ranges(
      ...Array.from({ length: 40 }, (): Row => {
        const first = 0x17000000 + random(4_000)
        return [formatAddress(address4(first)), formatAddress(address4(first + random(60))), list]
      }),
    ),
    6: list === 3 ? ranges(['2a00::', '2a00::ffff', list]) : undefined,
  }))
  const { layers, sets } = layHits(lists)
  t.same(sets[0], [])
  t.equal(new Set(sets.map(String)).size, sets.length, 'no set twice')
  const wrong = Array.from({ length: 4_100 }, (_, index) => 0x17000000 + index).filter((bits) => {
    const expected = lists.flatMap(({ 4: { firsts, lasts } }, list) =>
      firsts.some((first, range) => first <= bits && bits <= (lasts[range] as number)) ? [list] : [],
    )
    return String(sets[valueAt4(layers[4], bits)]) !== String(expected)
  })
  t.same(wrong, [])
  t.same(writeSegments(layers[6]).length, 3)
  t.same(layHits([]).sets, [[]])
})
