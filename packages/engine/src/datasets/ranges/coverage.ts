import { orderOf } from './range-order.ts'
import { addressesBetween, compareAt, type Ranges } from './ranges.ts'

/** Addresses that ranges cover together, each counted once; exact up to 2^53. */
export function coverageOf({ family, firsts, lasts }: Ranges): number {
  let sum = 0
  let open = -1
  let end = -1
  const close = () => (open === -1 ? 0 : addressesBetween(family, firsts, open, lasts, end) + 1)
  for (const range of orderOf(family, firsts)) {
    // `open` is where the present run of ranges begins, `end` the one of them that reaches furthest.
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
