import { foldName } from '@sallyport/core'
import { packTexts } from '../columns/encode.ts'
import { largestFirst } from '../ranges/range-order.ts'
import type { SystemSizes } from './outlines.ts'

/** Sorts the directory of systems in its orders, and folds the names for the search. `names` is by position. */
export function directoryColumns(names: readonly string[], { ipv4Addresses, ipv4Prefixes, ipv6Prefixes }: SystemSizes) {
  const byAddresses = largestFirst(ipv4Addresses)
  const { bytes, ends } = packTexts([...byAddresses].map((position) => `${foldName(names[position] as string)}\n`))
  return {
    byAddresses,
    byPrefixes: largestFirst(ipv4Prefixes.map((count, position) => count + (ipv6Prefixes[position] as number))),
    folded: bytes,
    foldedEnds: ends,
  }
}
