import { finish, STEP, type Steps } from '../steps.ts'
import { type Address, maskWord } from './address.ts'
import type { Prefix } from './prefix.ts'

export interface PrefixSet {
  has(address: Address): boolean
}

export function createPrefixSet(prefixes: Iterable<Prefix>): PrefixSet {
  return finish(prefixSetSteps([...prefixes]))
}

/** Builds the set in steps, so that a large set does not block requests. */
export function* prefixSetSteps(prefixes: readonly Prefix[]): Steps<PrefixSet> {
  const four = yield* dropNested(yield* sortPrefixes(prefixes, 4))
  const six = yield* dropNested(yield* sortPrefixes(prefixes, 6))
  return {
    has(address) {
      const layout = address.family === 4 ? four : six
      const at = lastNotAbove(layout.starts, address)
      return at >= 0 && isWithin(layout, at, address)
    },
  }
}

/** Keeps the outermost prefixes, in place. Prefixes nest or are disjoint, and the wider of two with one start comes first. */
function* dropNested({ starts, bits }: SortedPrefixes): Steps<Pick<SortedPrefixes, 'starts' | 'bits'>> {
  const layout = { starts, bits }
  let kept = 0
  for (let at = 0; at < bits.length; at++) {
    if (at % STEP === STEP - 1) yield
    if (kept > 0 && isWithin(layout, kept - 1, readStart(layout, at))) continue
    starts.copyWithin(kept * 4, at * 4, at * 4 + 4)
    bits[kept++] = bits[at] as number
  }
  return { starts: starts.subarray(0, kept * 4), bits: bits.subarray(0, kept) }
}

/** Keeps prefixes of one family in address order, the wider of two with one start first. */
export interface SortedPrefixes {
  /** The first address of each prefix takes four words. */
  readonly starts: Uint32Array
  /** Counts the significant bits, of 128. */
  readonly bits: Uint8Array
  /** Holds the position of each prefix in the given list; the first of equal ones comes last. */
  readonly order: Uint32Array
}

/** A record has four words of address and one for the number of significant bits. */
const WORDS = 5

export function* sortPrefixes(prefixes: readonly Prefix[], family: 4 | 6): Steps<SortedPrefixes> {
  const records = new Uint32Array(prefixes.length * WORDS)
  const own = new Uint32Array(prefixes.length)
  let count = 0
  for (let at = prefixes.length - 1; at >= 0; at--) {
    if (at % STEP === STEP - 1) yield
    const { address, length } = prefixes[at] as Prefix
    if (address.family !== family) continue
    const { a, b, c, d } = address
    records.set([a, b, c, d, family === 4 ? length + 96 : length], at * WORDS)
    own[count++] = at
  }
  const order = yield* sortRecords(records, own.subarray(0, count))
  const starts = new Uint32Array(count * 4)
  const bits = new Uint8Array(count)
  for (let at = 0; at < count; at++) {
    if (at % STEP === STEP - 1) yield
    const word = (order[at] as number) * WORDS
    starts.set(records.subarray(word, word + 4), at * 4)
    bits[at] = records[word + 4] as number
  }
  return { starts, bits, order }
}

/** Sorts the positions of records by their words, by a stable radix sort from the least significant byte. */
function* sortRecords(records: Uint32Array, positions: Uint32Array): Steps<Uint32Array> {
  const count = positions.length
  let order = positions
  let next: Uint32Array = new Uint32Array(count)
  const places = new Uint32Array(256)
  for (let word = WORDS - 1; count > 1 && word >= 0; word--) {
    for (let shift = 0; shift < 32; shift += 8) {
      const readByte = (at: number) => ((records[(order[at] as number) * WORDS + word] as number) >>> shift) & 255
      if (!findPlaces(places, count, readByte)) continue
      for (let from = 0; from < count; from += STEP) {
        yield
        for (let at = from; at < count && at < from + STEP; at++) {
          const byte = readByte(at)
          const place = places[byte] as number
          next[place] = order[at] as number
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
function findPlaces(places: Uint32Array, count: number, readByte: (at: number) => number): boolean {
  places.fill(0)
  for (let at = 0; at < count; at++) {
    const byte = readByte(at)
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

/** Reports whether the prefix at a place holds an address of its family. */
export function isWithin(
  { starts, bits }: Pick<SortedPrefixes, 'starts' | 'bits'>,
  at: number,
  { a, b, c, d }: Omit<Address, 'family'>,
): boolean {
  const length = bits[at] as number
  const word = at * 4
  // Addresses of IPv4 differ in the last word alone, which is compared first.
  return (
    (((starts[word + 3] as number) ^ d) & maskWord(length - 96)) === 0 &&
    (((starts[word + 2] as number) ^ c) & maskWord(length - 64)) === 0 &&
    (((starts[word + 1] as number) ^ b) & maskWord(length - 32)) === 0 &&
    (((starts[word] as number) ^ a) & maskWord(length)) === 0
  )
}

/** Reads the first address of the prefix at a place. */
export function readStart({ starts }: Pick<SortedPrefixes, 'starts'>, at: number): Omit<Address, 'family'> {
  const word = at * 4
  return {
    a: starts[word] as number,
    b: starts[word + 1] as number,
    c: starts[word + 2] as number,
    d: starts[word + 3] as number,
  }
}

/**
 * Returns the index of the last start that is not above the address; -1 when the first is. `starts` are ascending addresses of the same
 * family, four words each, flat.
 */
export function lastNotAbove(starts: Uint32Array, address: Address): number {
  let low = 0
  let high = starts.length >>> 2
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isNotAbove(starts, middle * 4, address)) low = middle + 1
    else high = middle
  }
  return low - 1
}

function isNotAbove(starts: Uint32Array, at: number, { a, b, c, d }: Address): boolean {
  const first = starts[at] as number
  if (first !== a >>> 0) return first < a >>> 0
  const second = starts[at + 1] as number
  if (second !== b >>> 0) return second < b >>> 0
  const third = starts[at + 2] as number
  if (third !== c >>> 0) return third < c >>> 0
  return (starts[at + 3] as number) <= d >>> 0
}
