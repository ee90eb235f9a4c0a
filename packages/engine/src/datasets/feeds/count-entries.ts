import { readFileSync, statSync } from 'node:fs'
import type { SourceRow } from '@sallyport/data/sources'
import { readCity } from '../compile/city.ts'
import { readContents, type SourceContents } from '../parse/contents.ts'
import { requirePlausibleCountries, requirePlausibleSystems } from './plausible-systems.ts'

/** Says how much a file holds, and how old it is. */
export type Contents = Pick<SourceContents, 'entries' | 'made'>

/** Reads a whole file as the given source. Throws `corrupt_data` naming the file when it cannot be that source. */
export function countEntries(row: SourceRow, path: string): Contents {
  if (row.kind === 'city') return countNetworks(row, path)
  const { systems = {}, registrations, entries, made } = readContents(row, { path, bytes: readFileSync(path) })
  for (const ranges of [systems[4], systems[6]]) if (ranges !== undefined) requirePlausibleSystems(ranges, path)
  for (const ranges of Object.values(registrations?.ranges ?? {})) {
    if (ranges !== undefined) requirePlausibleCountries(ranges, path)
  }
  return { entries, made }
}

/** Reads the database as compiling does: what could not be compiled is refused here, and replaces nothing. */
function countNetworks(row: SourceRow, path: string): Contents {
  const { size, mtimeMs } = statSync(path)
  const { networks, built } = readCity({ row, file: { path, size, modified: mtimeMs } }, () => {})
  return { entries: networks, made: built }
}
