import fc from 'fast-check'
import t from 'tap'
import { createPartition6Writer, findSegment6, type Partition6Writer } from '../src/address/table6.ts'

const TOP = 2n ** 128n - 1n

/** Boundaries lie anywhere, on /64s, packed below one /64, in neighbouring /64s, and at the borders of 2000::/3. */
const boundaryArbitrary = fc.oneof(
  fc.bigInt({ min: 0n, max: TOP }),
  fc.bigInt({ min: 0n, max: 2n ** 61n - 1n }).map((prefix) => (2n ** 61n + prefix) << 64n),
  fc.bigInt({ min: 0n, max: 5n }).map((low) => (0x2001_0db8_0000_0000n << 64n) + low),
  fc.bigInt({ min: 0n, max: 3n }).map((prefix) => (0x2001_0db8_0000_0000n + prefix) << 64n),
  fc.bigInt({ min: -2n, max: 2n }).map((step) => (2n << 124n) + step),
  fc.bigInt({ min: -2n, max: 2n }).map((step) => (4n << 124n) + step),
  fc.bigInt({ min: 0n, max: 3n }).map((step) => TOP - step),
)

const boundariesArbitrary = fc
  .array(boundaryArbitrary, { maxLength: 40 })
  .map((boundaries) => [...new Set([0n, ...boundaries])].sort((x, y) => (x < y ? -1 : x > y ? 1 : 0)))

function words(bits: bigint): [number, number, number, number] {
  const word = (shift: bigint) => Number(BigInt.asUintN(32, bits >> shift))
  return [word(96n), word(64n), word(32n), word(0n)]
}

/** A partition of which the value of each boundary is its position. */
function buildPartition(boundaries: readonly bigint[]): ReturnType<Partition6Writer['finish']> {
  const writer = createPartition6Writer(4)
  for (const [position, boundary] of boundaries.entries()) writer.push(...words(boundary), position)
  return writer.finish()
}

/** The boundary whose value an address has, by way of the built partition. */
function findValues(boundaries: readonly bigint[], addresses: readonly bigint[]): readonly number[] {
  const { partition, values } = buildPartition(boundaries)
  return addresses.map((address) => {
    const [a, b, c, d] = words(address)
    return values[findSegment6(partition, a | 0, b | 0, c | 0, d | 0)] as number
  })
}

function naive(boundaries: readonly bigint[], address: bigint): number {
  return boundaries.findLastIndex((boundary) => boundary <= address)
}

t.test('an IPv6 segment is found as a linear search finds it, at and around every boundary', async (t) => {
  fc.assert(
    fc.property(boundariesArbitrary, fc.array(boundaryArbitrary, { maxLength: 20 }), (boundaries, others) => {
      const around = boundaries.flatMap((boundary) => [boundary - 1n, boundary, boundary + 1n, boundary + 2n ** 64n])
      const addresses = [...around, ...others].filter((address) => address >= 0n && address <= TOP)
      const results = findValues(boundaries, addresses)
      return addresses.every((address, index) => results[index] === naive(boundaries, address))
    }),
    { numRuns: 40 },
  )
  t.pass('for random partitions')
})

t.test('cuts below a /64 keep to their /64, and its neighbours go on', async (t) => {
  const prefix = 0x2a00_0000_0000_0001n << 64n
  const boundaries = [0n, prefix + 5n, prefix + 9n, prefix + (3n << 64n)]
  const next = prefix + (1n << 64n)
  t.same(findValues(boundaries, [prefix - 1n, prefix, prefix + 4n, prefix + 5n, prefix + 8n]), [0, 0, 0, 1, 1])
  t.same(findValues(boundaries, [prefix + 9n, next - 1n, next, next + 7n, prefix + (3n << 64n)]), [2, 2, 2, 2, 3])
  const { partition } = buildPartition(boundaries)
  t.equal(partition.cells.length, 1, 'one /64 is cut further')
  t.equal(partition.fineHigh.length, 3, 'into three pieces')
})

t.test('a cut in the last /64 of the space brings no segment after it', async (t) => {
  const boundaries = [0n, TOP - 1n]
  t.same(findValues(boundaries, [TOP - 2n, TOP - 1n, TOP]), [0, 1, 1])
})

t.test('a start with the value that already holds makes no segment', async (t) => {
  const writer = createPartition6Writer(4)
  writer.push(0, 0, 0, 0, 7)
  writer.push(0x2a000000, 0, 0, 5, 7)
  writer.push(0x2a000000, 1, 0, 0, 8)
  writer.push(0x2a000000, 1, 0, 1, 8)
  const { partition, values } = writer.finish()
  t.same([Array.from(values), partition.cells.length], [[7, 8], 0])
})
