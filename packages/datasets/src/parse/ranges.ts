import type { Address } from '@sallyport/core'

/** Address ranges as they were read, both ends inclusive, four 32-bit words an address, each with a value. */
export interface Ranges {
  readonly count: number
  readonly firsts: Uint32Array
  readonly lasts: Uint32Array
  readonly values: Uint32Array
}

export interface RangeWriter {
  add(first: Address, last: Address, value: number): void
  finish(): Ranges
}

/** Collects ranges in growing typed arrays: half a million of them as objects would be 100 MB. */
export function createRangeWriter(capacity = 1024): RangeWriter {
  let firsts = new Uint32Array(capacity * 4)
  let lasts = new Uint32Array(capacity * 4)
  let values = new Uint32Array(capacity)
  let count = 0
  return {
    add(first, last, value) {
      if (count === values.length) {
        firsts = grown(firsts)
        lasts = grown(lasts)
        values = grown(values)
      }
      put(firsts, count, first)
      put(lasts, count, last)
      values[count++] = value
    },
    finish: () => ({
      count,
      firsts: firsts.subarray(0, count * 4),
      lasts: lasts.subarray(0, count * 4),
      values: values.subarray(0, count),
    }),
  }
}

/** A copy of twice the length. */
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

/** Order of two addresses that lie in flat columns of four words: negative, 0 or positive. */
export function compareAt(x: Uint32Array, xPosition: number, y: Uint32Array, yPosition: number): number {
  for (let word = 0; word < 4; word++) {
    const difference = (x[xPosition * 4 + word] as number) - (y[yPosition * 4 + word] as number)
    if (difference !== 0) return difference
  }
  return 0
}
