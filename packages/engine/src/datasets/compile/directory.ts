import { foldName } from '@sallyport/core'
import type { Columns } from '../format/tables.ts'
import { largestFirst } from '../ranges/range-order.ts'

type SizeColumns = Pick<Columns, 'systems.ipv4Addresses' | 'systems.ipv4Prefixes' | 'systems.ipv6Prefixes'>
type DirectoryColumns = Pick<
  Columns,
  'systems.byAddresses' | 'systems.byPrefixes' | 'systems.folded' | 'systems.foldedEnds'
>

/** Sorts the directory of systems in its orders, and folds the names for the search. `names` is by position. */
export function directoryColumns(names: readonly string[], sizes: SizeColumns): DirectoryColumns {
  const addresses = sizes['systems.ipv4Addresses']
  const ipv6 = sizes['systems.ipv6Prefixes']
  const prefixes = sizes['systems.ipv4Prefixes'].map((count, position) => count + (ipv6[position] as number))
  const byAddresses = largestFirst(addresses)
  const folded = [...byAddresses].map((position) => `${foldName(names[position] as string)}\n`)
  let end = 0
  return {
    'systems.byAddresses': byAddresses,
    'systems.byPrefixes': largestFirst(prefixes),
    'systems.folded': Buffer.from(folded.join('')),
    'systems.foldedEnds': Uint32Array.from(folded.map((name) => (end += Buffer.byteLength(name)))),
  }
}
