import { addressesBetween } from '../compile/segments.ts'
import { compareAt, type Ranges } from './ranges.ts'

/** Addresses that ranges cover together, each counted once; exact up to 2^53. */
export function coverageOf(ranges: Ranges): number {
  const { count, firsts, lasts } = ranges
  const order = Uint32Array.from({ length: count }, (_, position) => position)
  order.sort((x, y) => compareAt(firsts, x, firsts, y))
  let sum = 0
  let open = -1
  let end = -1
  for (const range of order) {
    // `open` is where the present run of ranges begins, `end` the one of them that reaches furthest.
    if (end !== -1 && compareAt(firsts, range, lasts, end) <= 0) {
      if (compareAt(lasts, range, lasts, end) > 0) end = range
      continue
    }
    if (open !== -1) sum += addressesBetween(firsts, open, lasts, end) + 1
    open = range
    end = range
  }
  return open === -1 ? 0 : sum + addressesBetween(firsts, open, lasts, end) + 1
}
