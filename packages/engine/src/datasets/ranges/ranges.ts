import { type Address, address4, address6, createGrowingColumn, type GrowingColumn } from '@sallyport/core'
import type { Entry } from './entry.ts'

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

/** Collects ranges in growing columns: half a million of them as objects would be 100 MB. */
export function createRangeWriter(family: 4 | 6, capacity = 1024) {
  const firsts = createGrowingColumn(capacity * WORDS[family])
  const lasts = createGrowingColumn(capacity * WORDS[family])
  const values = createGrowingColumn(capacity)
  const push = (column: GrowingColumn, { a, b, c, d }: Address) => {
    if (family === 6) for (const word of [a, b, c]) column.push(word)
    column.push(d)
  }
  return {
    add(first: Address, last: Address, value: number): void {
      push(firsts, first)
      push(lasts, last)
      values.push(value)
    },
    finish: (): Ranges => {
      const count = values.length
      return { family, count, firsts: firsts.finish(), lasts: lasts.finish(), values: values.finish() }
    },
  }
}

/** Returns the same ranges with other values. Written out: readers of ranges are fast while all ranges have one shape. */
export function mapValues(ranges: Ranges, change: (value: number, range: number) => number): Ranges {
  const { family, count, firsts, lasts, values } = ranges
  return { family, count, firsts, lasts, values: values.map(change) }
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

/** Joins columns of addresses; `from` has the position of the column that each address comes from. */
export function joinColumns(family: 4 | 6, columns: readonly Uint32Array[]) {
  const width = WORDS[family]
  const words = new Uint32Array(columns.reduce((sum, { length }) => sum + length, 0))
  const from = new Uint16Array(words.length / width)
  let at = 0
  for (const [position, column] of columns.entries()) {
    words.set(column, at)
    from.fill(position, at / width, (at + column.length) / width)
    at += column.length
  }
  return { words, from }
}

/** Yields the IPv4 ranges of fewer addresses than `size`, with their values: they name machines, and longer ones networks. */
export function* narrowRanges({ 4: read }: { readonly 4?: Ranges | undefined }, size: number) {
  for (let range = 0; read !== undefined && range < read.count; range++) {
    const [first, last] = [read.firsts[range] as number, read.lasts[range] as number]
    if (last - first < size) yield { first, last, value: read.values[range] as number }
  }
}

/** Sums the sizes of ranges by their values, which are below `count`. */
export function sumSizes(ranges: Ranges, count: number): Float64Array {
  const sums = new Float64Array(count)
  for (const [range, value] of ranges.values.entries())
    sums[value] = (sums[value] as number) + measureRange(ranges, range)
  return sums
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
