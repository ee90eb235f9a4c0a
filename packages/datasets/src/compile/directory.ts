import { foldName } from '@sallyport/core'
import type { Columns } from '../tables/format.ts'

type SizeColumns = Pick<Columns, 'systems.ipv4Addresses' | 'systems.ipv4Prefixes' | 'systems.ipv6Prefixes'>
type DirectoryColumns = Pick<
  Columns,
  'systems.byAddresses' | 'systems.byPrefixes' | 'systems.folded' | 'systems.foldedEnds'
>

/** The orders of the directory of systems, and their names as a search reads them. `names` is by position. */
export function directoryColumns(names: readonly string[], sizes: SizeColumns): DirectoryColumns {
  const addresses = sizes['systems.ipv4Addresses']
  const prefixes = sizes['systems.ipv4Prefixes'].map(
    (count, position) => count + (sizes['systems.ipv6Prefixes'][position] as number),
  )
  const byAddresses = largestFirst(addresses)
  const folded = Array.from(byAddresses, (position) => `${foldName(names[position] as string)}\n`)
  let end = 0
  return {
    'systems.byAddresses': byAddresses,
    'systems.byPrefixes': largestFirst(prefixes),
    'systems.folded': Buffer.from(folded.join('')),
    'systems.foldedEnds': Uint32Array.from(folded, (name) => (end += Buffer.byteLength(name))),
  }
}

/** Positions by size; equal sizes stay in order of number, which is the order of positions. */
function largestFirst(sizes: Uint32Array | Float64Array): Uint32Array {
  const positions = Uint32Array.from(sizes, (_, position) => position)
  return positions.sort((x, y) => (sizes[y] as number) - (sizes[x] as number) || x - y)
}
