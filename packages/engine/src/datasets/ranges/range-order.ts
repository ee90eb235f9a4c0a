import { compareAt, WORDS } from './ranges.ts'

/** Positions of the addresses of a column in ascending order; equal ones stay as they came. */
export function orderOf(family: 4 | 6, words: Uint32Array): Uint32Array {
  const order = positions(words.length / WORDS[family])
  return order.sort((x, y) => compareAt(family, words, x, words, y) || x - y)
}

/** Positions of numbers, the largest first; equal ones stay as they came. */
export function largestFirst(numbers: Uint32Array | Float64Array): Uint32Array {
  return positions(numbers.length).sort((x, y) => (numbers[y] as number) - (numbers[x] as number) || x - y)
}

function positions(count: number): Uint32Array {
  const order = new Uint32Array(count)
  for (let position = 0; position < count; position++) order[position] = position
  return order
}
