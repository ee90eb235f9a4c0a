import { endianness } from 'node:os'
import { compareAt, WORDS } from './ranges.ts'

/** Returns the positions of a column's addresses in ascending order; equal ones keep their order. */
export function sortRanges(family: 4 | 6, words: Uint32Array): Uint32Array {
  const order = positions(words.length / WORDS[family])
  if (isAscending(family, words, order.length)) return order
  return family === 4 ? sortNumbers(words) : order.sort((x, y) => compareAt(6, words, x, words, y) || x - y)
}

/** Reports whether addresses are in order already, as in most lists. */
function isAscending(family: 4 | 6, words: Uint32Array, count: number): boolean {
  for (let at = 1; at < count; at++) if (compareAt(family, words, at - 1, words, at) > 0) return false
  return true
}

/** Sorts address and position as one number of 64 bits, which needs no call for each comparison. */
function sortNumbers(words: Uint32Array): Uint32Array {
  const keys = new BigUint64Array(words.length)
  const halves = new Uint32Array(keys.buffer)
  const [high, low] = endianness() === 'LE' ? [1, 0] : [0, 1]
  for (let at = 0; at < words.length; at++) {
    halves[at * 2 + high] = words[at] as number
    halves[at * 2 + low] = at
  }
  keys.sort()
  return Uint32Array.from(words, (_, at) => halves[at * 2 + low] as number)
}

/** Returns the positions of numbers, the largest first; equal ones keep their order. */
export function largestFirst(numbers: Uint32Array | Float64Array): Uint32Array {
  return positions(numbers.length).sort((x, y) => (numbers[y] as number) - (numbers[x] as number) || x - y)
}

function positions(count: number): Uint32Array {
  const order = new Uint32Array(count)
  for (let position = 0; position < count; position++) order[position] = position
  return order
}
