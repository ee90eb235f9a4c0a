import { readFileSync, statSync } from 'node:fs'
import type { SourceRow, SystemListFormat } from '@sallyport/data/sources'
import { createCountryRegister, readCountryRanges } from '../compile/countries.ts'
import { readSystemRanges } from '../compile/systems.ts'
import { readCity } from '../geo/compile.ts'
import { countBootstrap } from '../parse/bootstrap.ts'
import type { CsvFile } from '../parse/csv.ts'
import { listForm, readList } from '../parse/list.ts'
import { readSystemList } from '../parse/system-list.ts'
import { splitSystems } from '../parse/tsv-asn.ts'
import { requirePlausibleSystems } from './plausible-systems.ts'

/** What a file holds, read as one source and set aside. */
export interface Contents {
  /** Lines, list entries, or the networks of a database. */
  readonly entries: number
  /** When it was made, where it says so, in milliseconds since the epoch. */
  readonly made?: number
}

/** Reads a file whole as the given source. Throws `corrupt_data` naming the file where it cannot be that source. */
export function readAlone(row: SourceRow, path: string): Contents {
  if (row.kind === 'city') return readCityAlone(row, path)
  const bytes = readFileSync(path)
  const family = row.family ?? 4
  switch (row.kind) {
    case 'asn': {
      const file = { path, bytes }
      if (row.format !== 'tsv-asn') return { entries: countSystemRanges(file, family) }
      const files = splitSystems(file)
      return { entries: countSystemRanges(files[4], 4) + countSystemRanges(files[6], 6) }
    }
    case 'asn-country':
      return { entries: readCountryRanges({ path, bytes }, family, createCountryRegister(), () => {}).count }
    case 'asn-list':
      return { entries: readSystemList(bytes, row.format as SystemListFormat, path).size }
    case 'rdap':
      return { entries: countBootstrap(bytes.toString('utf8'), path) }
    case 'ranges':
    case 'addresses':
    case 'crawler':
    case 'abuse':
    case 'geofeed': {
      const { ranges, made } = readList(bytes, listForm(row, path))
      return { entries: ranges[4].count + ranges[6].count, ...(made === undefined ? {} : { made }) }
    }
  }
}

function countSystemRanges(file: CsvFile, family: 4 | 6): number {
  const systems = readSystemRanges(file, family)
  requirePlausibleSystems(systems, file.path)
  return systems.ranges.count
}

/** As it is read when it is compiled: what could not be compiled is refused here, and replaces nothing. */
function readCityAlone(row: SourceRow, path: string): Contents {
  const { size, mtimeMs } = statSync(path)
  const { networks, built } = readCity({ row, file: { path, size, modified: mtimeMs } }, () => {})
  return { entries: networks, ...(built === undefined ? {} : { made: built }) }
}
