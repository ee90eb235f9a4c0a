import { compareAt, WORDS } from './ranges.ts'

/** Below so many a comparison function is faster than counting through 65,536 digits. */
const FEW = 4_096
const DIGIT_BITS = 16
const DIGITS = 2 ** DIGIT_BITS

/** Positions of the addresses of a column in ascending order; equal ones stay as they came. */
export function orderOf(family: 4 | 6, words: Uint32Array): Uint32Array {
  const width = WORDS[family]
  const count = words.length / width
  let order = positions(count)
  if (isAscending(family, words, count)) return order
  if (count < FEW) return order.sort((x, y) => compareAt(family, words, x, words, y) || x - y)
  // Digit by digit from the lowest, each time keeping the order of equal ones (radix sort).
  let spare = new Uint32Array(count)
  for (let word = width - 1; word >= 0; word--) {
    for (const shift of [0, DIGIT_BITS]) {
      sortByDigit(order, spare, words, width, word, shift)
      ;[order, spare] = [spare, order]
    }
  }
  return order
}

/** Positions of numbers from 0 to 2^32 - 1, the largest first; equal ones stay as they came. */
export function largestFirst(numbers: Uint32Array | Float64Array): Uint32Array {
  const keys = new Uint32Array(numbers.length)
  for (let position = 0; position < keys.length; position++) keys[position] = 0xffffffff - (numbers[position] as number)
  return orderOf(4, keys)
}

function positions(count: number): Uint32Array<ArrayBuffer> {
  const order = new Uint32Array(count)
  for (let position = 0; position < count; position++) order[position] = position
  return order
}

function isAscending(family: 4 | 6, words: Uint32Array, count: number): boolean {
  for (let position = 1; position < count; position++) {
    if (compareAt(family, words, position - 1, words, position) > 0) return false
  }
  return true
}

/** By sixteen bits of one word of each address. Without a function for it: such a one would be compiled anew each time. */
function sortByDigit(
  from: Uint32Array,
  to: Uint32Array,
  words: Uint32Array,
  width: number,
  word: number,
  shift: number,
): void {
  const ends = new Uint32Array(DIGITS)
  for (let at = 0; at < from.length; at++) {
    const digit = ((words[(from[at] as number) * width + word] as number) >>> shift) & (DIGITS - 1)
    ends[digit] = (ends[digit] as number) + 1
  }
  for (let digit = 1; digit < DIGITS; digit++) ends[digit] = (ends[digit] as number) + (ends[digit - 1] as number)
  for (let at = from.length - 1; at >= 0; at--) {
    const position = from[at] as number
    const digit = ((words[position * width + word] as number) >>> shift) & (DIGITS - 1)
    const place = (ends[digit] as number) - 1
    ends[digit] = place
    to[place] = position
  }
}
