import { sortRanges } from './range-order.ts'
import { addressesBetween, compareAt, type Ranges } from './ranges.ts'

/** Counts the addresses that ranges cover together, each once; exact up to 2^53. */
export function measureCoverage({ family, firsts, lasts }: Ranges): number {
  let sum = 0
  let open = -1
  let end = -1
  const close = () => (open === -1 ? 0 : addressesBetween(family, firsts, open, lasts, end) + 1)
  for (const range of sortRanges(family, firsts)) {
    // `open` begins the present run of ranges; `end` is the range of the run that reaches furthest.
    if (end !== -1 && compareAt(family, firsts, range, lasts, end) <= 0) {
      if (compareAt(family, lasts, range, lasts, end) > 0) end = range
      continue
    }
    sum += close()
    open = range
    end = range
  }
  return sum + close()
}

/** Counts ranges by where they begin: a list that repeats its entries is no longer for that. */
export function countDistinct({ family, firsts }: Ranges): number {
  const order = sortRanges(family, firsts)
  let count = Math.min(order.length, 1)
  for (let at = 1; at < order.length; at++) {
    if (compareAt(family, firsts, order[at - 1] as number, firsts, order[at] as number) !== 0) count++
  }
  return count
}
