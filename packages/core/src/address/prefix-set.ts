import { finish, STEP, type Steps } from '../steps.ts'
import type { Address } from './address.ts'
import { lastNotAbove } from './partition.ts'
import { maskWord, type Prefix } from './prefix.ts'

export interface PrefixSet {
  has(address: Address): boolean
}

export function createPrefixSet(prefixes: Iterable<Prefix>): PrefixSet {
  return finish(prefixSetSteps([...prefixes]))
}

/** Builds the set in steps, so that a large set does not block requests. */
export function* prefixSetSteps(prefixes: readonly Prefix[]): Steps<PrefixSet> {
  const four = yield* layOut(prefixes, 4)
  const six = yield* layOut(prefixes, 6)
  return {
    has(address) {
      const layout = address.family === 4 ? four : six
      const at = lastNotAbove(layout.starts, address)
      return at >= 0 && isWithin(layout, at, address)
    },
  }
}

/** Keeps prefixes of one family in address order, none within another. */
interface Layout {
  /** The first address of each prefix takes four words. */
  readonly starts: Uint32Array
  /** Counts the significant bits, of 128. */
  readonly bits: Uint8Array
}

function isWithin({ starts, bits }: Layout, at: number, { a, b, c, d }: Omit<Address, 'family'>): boolean {
  const length = bits[at] as number
  const word = at * 4
  return (
    (((starts[word] as number) ^ a) & maskWord(length)) === 0 &&
    (((starts[word + 1] as number) ^ b) & maskWord(length - 32)) === 0 &&
    (((starts[word + 2] as number) ^ c) & maskWord(length - 64)) === 0 &&
    (((starts[word + 3] as number) ^ d) & maskWord(length - 96)) === 0
  )
}

/** A record has four words of address and one for the number of significant bits. */
const WORDS = 5

function* layOut(prefixes: readonly Prefix[], family: 4 | 6): Steps<Layout> {
  const records = new Uint32Array(prefixes.length * WORDS)
  let count = 0
  for (let at = 0; at < prefixes.length; at++) {
    if (at % STEP === STEP - 1) yield
    const { address, length } = prefixes[at] as Prefix
    if (address.family !== family) continue
    const { a, b, c, d } = address
    const word = count++ * WORDS
    records[word] = a
    records[word + 1] = b
    records[word + 2] = c
    records[word + 3] = d
    records[word + 4] = family === 4 ? length + 96 : length
  }
  const order = yield* sortRecords(records, count)
  const starts = new Uint32Array(count * 4)
  const bits = new Uint8Array(count)
  const layout = { starts, bits }
  let kept = 0
  for (let at = 0; at < count; at++) {
    if (at % STEP === STEP - 1) yield
    const word = (order[at] as number) * WORDS
    const a = records[word] as number
    const b = records[word + 1] as number
    const c = records[word + 2] as number
    const d = records[word + 3] as number
    // Prefixes nest or are disjoint, and the wider of two with one start comes first.
    if (kept > 0 && isWithin(layout, kept - 1, { a, b, c, d })) continue
    starts[kept * 4] = a
    starts[kept * 4 + 1] = b
    starts[kept * 4 + 2] = c
    starts[kept * 4 + 3] = d
    bits[kept++] = records[word + 4] as number
  }
  return { starts: starts.subarray(0, kept * 4), bits: bits.subarray(0, kept) }
}

/** Returns the positions of records in the order of their words, by a radix sort from the least significant byte. */
function* sortRecords(records: Uint32Array, count: number): Steps<Uint32Array> {
  let order = new Uint32Array(count)
  for (let at = 0; at < count; at++) order[at] = at
  let next = new Uint32Array(count)
  const places = new Uint32Array(256)
  for (let word = WORDS - 1; count > 1 && word >= 0; word--) {
    for (let shift = 0; shift < 32; shift += 8) {
      const readByte = (record: number) => ((records[record * WORDS + word] as number) >>> shift) & 255
      if (!findPlaces(places, count, readByte)) continue
      for (let from = 0; from < count; from += STEP) {
        yield
        for (let at = from; at < count && at < from + STEP; at++) {
          const record = order[at] as number
          const byte = readByte(record)
          const place = places[byte] as number
          next[place] = record
          places[byte] = place + 1
        }
      }
      const before = order
      order = next
      next = before
    }
  }
  return order
}

/** Finds the first place of each byte among the sorted records; false where all records have the same byte. */
function findPlaces(places: Uint32Array, count: number, readByte: (record: number) => number): boolean {
  places.fill(0)
  for (let record = 0; record < count; record++) {
    const byte = readByte(record)
    places[byte] = (places[byte] as number) + 1
  }
  if (places[readByte(0)] === count) return false
  let place = 0
  for (let byte = 0; byte < 256; byte++) {
    const held = places[byte] as number
    places[byte] = place
    place += held
  }
  return true
}
