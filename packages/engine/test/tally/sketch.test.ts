import { createHash } from 'node:crypto'
import t from 'tap'
import { estimateCount, mergeInto, noteIn, packPlace, REGISTERS } from '../../src/tally/sketch.ts'

function placeFor(client: number): number {
  const hash = createHash('sha256').update(`client ${client}`).digest()
  return packPlace(hash.readUInt32BE(0), hash.readUInt32BE(4))
}

function makeSketch(from: number, until: number): Uint8Array {
  const registers = new Uint8Array(REGISTERS)
  for (let client = from; client < until; client++) noteIn(registers, placeFor(client))
  return registers
}

t.test('clients are counted within four standard errors, few of them all but exactly', async (t) => {
  t.equal(estimateCount(new Uint8Array(REGISTERS)), 0)
  for (const clients of [1, 2, 3, 10, 30])
    t.ok(Math.abs(estimateCount(makeSketch(0, clients)) - clients) <= 1, `${clients}`)
  for (const clients of [100, 1_000, 5_000, 20_000, 200_000]) {
    const count = estimateCount(makeSketch(0, clients))
    t.ok(Math.abs(count - clients) < clients * 4 * 0.023, `${clients}: ${count}`)
  }
})

t.test('a client that comes again is the same one, in this sketch and in another', async (t) => {
  const one = makeSketch(0, 2_000)
  t.notOk(noteIn(one, placeFor(7)), 'nothing changes')
  const both = makeSketch(1_000, 3_000)
  mergeInto(both, one)
  t.same(both, makeSketch(0, 3_000), 'two sketches are that of all')
})
