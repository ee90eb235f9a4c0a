import { type Address, address4, address6 } from '@sallyport/core'
import type { Entry } from './entry.ts'

export type Family = 4 | 6
export const FAMILIES = [4, 6] as const

/** An address of a family takes this many 32-bit words in a column. */
export const WORDS = { 4: 1, 6: 4 } as const satisfies Record<4 | 6, number>

/** Address ranges of one family as they were read, both ends inclusive, `WORDS` an address, each with a value. */
export interface Ranges {
  readonly family: 4 | 6
  readonly count: number
  readonly firsts: Uint32Array
  readonly lasts: Uint32Array
  readonly values: Uint32Array
}

/** Collects ranges in growing typed arrays: half a million of them as objects would be 100 MB. */
export function createRangeWriter(family: 4 | 6, capacity = 1024) {
  const width = WORDS[family]
  let firsts = new Uint32Array(capacity * width)
  let lasts = new Uint32Array(capacity * width)
  let values = new Uint32Array(capacity)
  let count = 0
  const makeRoom = () => {
    if (count < values.length) return
    firsts = grown(firsts)
    lasts = grown(lasts)
    values = grown(values)
  }
  return {
    add(first: Address, last: Address, value: number): void {
      makeRoom()
      if (width === 1) {
        firsts[count] = first.d
        lasts[count] = last.d
      } else {
        put(firsts, count, first)
        put(lasts, count, last)
      }
      values[count++] = value
    },
    /** Adds a range of IPv4 addresses given as numbers, without objects. */
    add4(first: number, last: number, value: number): void {
      makeRoom()
      firsts[count] = first
      lasts[count] = last
      values[count++] = value
    },
    finish: (): Ranges => ({
      family,
      count,
      firsts: firsts.subarray(0, count * width),
      lasts: lasts.subarray(0, count * width),
      values: values.subarray(0, count),
    }),
  }
}

/** Returns the same ranges with other values. Written out: readers of ranges are fast while all ranges have one shape. */
export function withValues({ family, count, firsts, lasts }: Ranges, values: Uint32Array): Ranges {
  return { family, count, firsts, lasts, values }
}

/** Returns the range at a position. */
export function entryAt({ family, firsts, lasts }: Ranges, range: number): Entry {
  return { first: addressAt(family, firsts, range), last: addressAt(family, lasts, range) }
}

/** Returns the address at a position of a column. */
export function addressAt(family: 4 | 6, words: Uint32Array, position: number): Address {
  if (family === 4) return address4(words[position] as number)
  const [a = 0, b = 0, c = 0, d = 0] = words.subarray(position * 4, position * 4 + 4)
  return address6(a, b, c, d)
}

/** Returns a copy of twice the length. */
export function grown(column: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(column.length * 2)
  larger.set(column)
  return larger
}

function put(words: Uint32Array, position: number, { a, b, c, d }: Address): void {
  const at = position * 4
  words[at] = a
  words[at + 1] = b
  words[at + 2] = c
  words[at + 3] = d
}

/** Compares two addresses of a family that lie in columns: negative, 0 or positive. */
export function compareAt(family: 4 | 6, x: Uint32Array, xPosition: number, y: Uint32Array, yPosition: number): number {
  if (family === 4) return (x[xPosition] as number) - (y[yPosition] as number)
  for (let word = 0; word < 4; word++) {
    const difference = (x[xPosition * 4 + word] as number) - (y[yPosition * 4 + word] as number)
    if (difference !== 0) return difference
  }
  return 0
}

/** Counts the addresses of a range, as a floating-point number: exact up to 2^53. */
export function measureRange({ family, firsts, lasts }: Ranges, range: number): number {
  return addressesBetween(family, firsts, range, lasts, range) + 1
}

/** Counts the addresses from one up to another one, as a floating-point number: exact up to 2^53. */
export function addressesBetween(
  family: 4 | 6,
  x: Uint32Array,
  xPosition: number,
  y: Uint32Array,
  yPosition: number,
): number {
  if (family === 4) return (y[yPosition] as number) - (x[xPosition] as number)
  let sum = 0
  for (let word = 0; word < 4; word++) {
    sum = sum * 2 ** 32 + ((y[yPosition * 4 + word] as number) - (x[xPosition * 4 + word] as number))
  }
  return sum
}
