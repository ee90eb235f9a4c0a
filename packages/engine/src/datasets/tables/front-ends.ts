import { readFileSync } from 'node:fs'
import { coverRange, type FrontEnds, type Prefix, SallyportError } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { readList } from '../parse/list.ts'
import { entryAt, FAMILIES } from '../ranges/ranges.ts'
import type { ResolvedSource } from '../sources/resolve.ts'

/**
 * Reads the servers of delivery networks as their operators publish them, by the names under which they are trusted. A list that cannot be
 * read is left out: the shipped list holds in its place.
 */
export function readFrontEnds(sources: readonly ResolvedSource[]): FrontEnds {
  const found = new Map<string, readonly Prefix[]>()
  for (const { row, file } of sources) {
    if (row.kind !== 'front-end' || row.preset === undefined || file === undefined) continue
    const read = readPrefixes(row, file.path)
    if (read.length > 0) found.set(row.preset, [...(found.get(row.preset) ?? []), ...read])
  }
  return found
}

function readPrefixes(row: SourceRow, path: string): readonly Prefix[] {
  try {
    const { ranges } = readList(readFileSync(path), row, path)
    return FAMILIES.flatMap((family) => {
      const entries = Array.from({ length: ranges[family].count }, (_, at) => entryAt(ranges[family], at))
      return entries.flatMap(({ first, last }) => coverRange(first, last))
    })
  } catch (error) {
    // Its status says so: it is read among the other lists too.
    if (error instanceof SallyportError || (error instanceof Error && 'code' in error)) return []
    throw error
  }
}
