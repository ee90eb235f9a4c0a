import fc from 'fast-check'
import t from 'tap'
import { parseAddress } from '../src/address/address.ts'
import { buildPartition4, findSegment4 } from '../src/address/table4.ts'

const TOP = 0xffffffff

/** Starts that crowd around the borders of chunks and of the space, where an index would be off by one. */
const startsArbitrary = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: TOP }),
      fc.tuple(fc.integer({ min: 0, max: 2 ** 18 - 1 }), fc.integer({ min: -2, max: 2 })).map(([chunk, step]) => {
        return Math.min(Math.max(chunk * 2 ** 14 + step, 0), TOP)
      }),
      fc.integer({ min: 0x01000000, max: 0x01000040 }),
      fc.constant(TOP),
    ),
    { maxLength: 60 },
  )
  .map((numbers) => Uint32Array.from(new Set([0, ...numbers])).sort())

function naive(starts: Uint32Array, address: number): number {
  return starts.findLastIndex((start) => start <= address)
}

t.test('an IPv4 segment is found as a linear search finds it, at and around every start', async (t) => {
  fc.assert(
    fc.property(startsArbitrary, fc.array(fc.integer({ min: 0, max: TOP }), { maxLength: 20 }), (starts, others) => {
      const partition = buildPartition4(starts)
      const around = Array.from(starts).flatMap((start) => [start - 1, start, start + 1])
      return [...around, ...others, 0, TOP]
        .filter((address) => address >= 0 && address <= TOP)
        .every((address) => findSegment4(partition, address | 0) === naive(starts, address))
    }),
    { numRuns: 25 },
  )
  t.pass('for random partitions')
})

t.test('the word of an address is read without its sign, and shared memory serves as well', async (t) => {
  const built = buildPartition4(Uint32Array.of(0, 0x80000000, 0xff000000))
  const partition = { ...built, lows: new Uint16Array(new SharedArrayBuffer(6)) }
  partition.lows.set(built.lows)
  const findSegment = (text: string) => findSegment4(partition, parseAddress(text)?.d as number)
  t.equal(findSegment('127.255.255.255'), 0)
  t.equal(findSegment('128.0.0.0'), 1)
  t.equal(findSegment('254.255.255.255'), 1)
  t.equal(findSegment('255.255.255.255'), 2)
})

t.test('a partition of one segment holds every address', async (t) => {
  const starts = Uint32Array.of(0)
  const partition = buildPartition4(starts)
  t.same(
    [0, 1, 0x7fffffff, TOP].map((address) => findSegment4(partition, address)),
    [0, 0, 0, 0],
  )
})
