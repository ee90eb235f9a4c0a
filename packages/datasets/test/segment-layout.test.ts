import { coverRange, formatAddress } from '@sallyport/core'
import t from 'tap'
import { countCover } from '../src/compile/cover.ts'
import { boundsOf, layOut, overlay, uniform } from '../src/compile/segments.ts'
import { createRangeWriter } from '../src/parse/ranges.ts'
import { address, addressFrom, createRandom, randomBits } from './fixtures.ts'

function ranges(...rows: readonly (readonly [string, string, number])[]) {
  const writer = createRangeWriter(2)
  for (const [first, last, value] of rows) writer.add(address(first), address(last), value)
  return writer.finish()
}

/** `first-last=value` of every segment. */
function told(segments: ReturnType<typeof layOut>, family: 4 | 6): readonly string[] {
  return Array.from({ length: segments.count }, (_, index) => {
    const [first, last] = boundsOf(segments, index, family)
    return `${formatAddress(first)}-${formatAddress(last)}=${segments.values[index]}`
  })
}

t.test('gaps get value 0, and neighbours of one value are one segment', async (t) => {
  const laid = layOut(
    ranges(['10.0.0.0', '10.0.0.255', 1], ['10.0.1.0', '10.0.1.255', 1], ['10.0.3.0', '10.0.3.0', 2]),
    4,
  )
  t.same(told(laid, 4), [
    '0.0.0.0-9.255.255.255=0',
    '10.0.0.0-10.0.1.255=1',
    '10.0.2.0-10.0.2.255=0',
    '10.0.3.0-10.0.3.0=2',
    '10.0.3.1-255.255.255.255=0',
  ])
})

t.test('of overlapping ranges the smallest speaks, nested or crossing, in whatever order they come', async (t) => {
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
  t.same(told(layOut(ranges(...rows), 4), 4), expected)
  t.same(told(layOut(ranges(...rows.toReversed()), 4), 4), expected)
})

t.test('ranges may reach from the first address of a family to its last', async (t) => {
  t.same(told(layOut(ranges(['0.0.0.0', '255.255.255.255', 5]), 4), 4), ['0.0.0.0-255.255.255.255=5'])
  const top = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'
  t.same(told(layOut(ranges(['::', top, 5], [top, top, 6]), 6), 6), [
    '::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe=5',
    `${top}-${top}=6`,
  ])
})

t.test('a cut carries through all words of an IPv6 address', async (t) => {
  const laid = layOut(ranges(['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 1]), 6)
  t.same(told(laid, 6).slice(1), [
    '2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff=1',
    '2001:db9::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff=0',
  ])
})

t.test('layers are combined wherever one of them changes', async (t) => {
  const systems = layOut(ranges(['10.0.0.0', '10.0.0.255', 1]), 4)
  const list = layOut(ranges(['10.0.0.128', '10.0.1.255', 2]), 4)
  const both = overlay([systems, list, uniform(0)], (values) => (values[0] as number) * 10 + (values[1] as number))
  t.same(told(both, 4), [
    '0.0.0.0-9.255.255.255=0',
    '10.0.0.0-10.0.0.127=10',
    '10.0.0.128-10.0.0.255=12',
    '10.0.1.0-10.0.1.255=2',
    '10.0.2.0-255.255.255.255=0',
  ])
})

t.test('counting a cover gives as many prefixes as making it', async (t) => {
  const random = createRandom(7)
  let wrong = 0
  for (const family of [4, 6] as const) {
    const bits = family === 4 ? 32 : 128
    for (let round = 0; round < 400; round++) {
      const base = randomBits(random, bits)
      const size = randomBits(random, bits) >> BigInt(random(bits))
      const end = base + size >= 1n << BigInt(bits) ? (1n << BigInt(bits)) - 1n : base + size
      const [first, last] = [addressFrom(family, base), addressFrom(family, end)]
      if (countCover(first, last) !== coverRange(first, last).length) wrong++
    }
  }
  t.equal(wrong, 0)
  const cases = [
    ['0.0.0.0', '255.255.255.255', 1],
    ['10.0.0.0', '10.0.0.255', 1],
    ['10.0.0.1', '10.0.0.254', 14],
    ['10.0.0.255', '10.0.1.0', 2],
    ['10.0.0.7', '10.0.0.7', 1],
    ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 1],
  ] as const
  for (const [first, last, count] of cases)
    t.equal(countCover(address(first), address(last)), count, `${first}-${last}`)
})
