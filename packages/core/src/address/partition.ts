import { finish } from '../steps.ts'
import type { Address } from './address.ts'
import type { Prefix } from './prefix.ts'
import { isWithin, lastNotAbove, readStart, sortPrefixes } from './prefix-set.ts'

/** Finds the longest prefix that holds an address, and the first of equal ones, in O(log n) over typed arrays. */
export function createPartition(prefixes: readonly Prefix[]) {
  const four = nestPrefixes(prefixes, 4)
  const six = nestPrefixes(prefixes, 6)
  return {
    /** Returns the position in the given list of the longest prefix that holds the address; -1 when none does. */
    find(address: Address): number {
      const nested = address.family === 4 ? four : six
      let at = lastNotAbove(nested.starts, address)
      while (at >= 0 && !isWithin(nested, at, address)) at = nested.around[at] as number
      return at < 0 ? -1 : (nested.order[at] as number)
    },
  }
}

/** Finds for each prefix the narrowest one around it, -1 for none. Prefixes nest or are disjoint. */
function nestPrefixes(prefixes: readonly Prefix[], family: 4 | 6) {
  const sorted = finish(sortPrefixes(prefixes, family))
  const around = new Int32Array(sorted.bits.length)
  for (let at = 0; at < around.length; at++) {
    const start = readStart(sorted, at)
    let outer = at - 1
    while (outer >= 0 && !isWithin(sorted, outer, start)) outer = around[outer] as number
    around[at] = outer
  }
  return { ...sorted, around }
}
