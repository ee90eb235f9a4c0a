import { parseBootstrap, SallyportError } from '@sallyport/core'
import type { SourceRow, SystemListFormat } from '@sallyport/data/sources'
import { countDistinct } from '../ranges/coverage.ts'
import { FAMILIES, type Ranges } from '../ranges/ranges.ts'
import { type CsvFile, readRangeLines } from './csv.ts'
import { readDelegations } from './delegations.ts'
import { type AddressList, readList } from './list.ts'
import { readMailDomains } from './mail-domains.ts'
import { createNumbering, type Numbering } from './numbering.ts'
import { type Places, readPlaces } from './places.ts'
import { readSystemList, type SystemList } from './system-list.ts'
import { readSystemRanges, type SystemRanges, splitSystems } from './system-ranges.ts'

/** One value for each family, where there is one. */
export type PerFamily<T> = { readonly 4?: T | undefined; readonly 6?: T | undefined }

/** The content of a source's file. All members but `entries` depend on the source's kind. Plain values can be kept as bytes. */
export interface SourceContents extends Partial<AddressList> {
  /** Lines, list entries or names, or the networks of a database, each counted once. */
  readonly entries: number
  readonly systems?: PerFamily<SystemRanges> | undefined
  readonly registrations?: Registrations | undefined
  readonly systemList?: SystemList | undefined
  readonly places?: Places | undefined
}

/** Ranges of a table of countries, of the registries or of use; values are positions in `countries`, from 1, and 0 for none. */
export interface Registrations {
  readonly ranges: PerFamily<Ranges>
  readonly countries: readonly string[]
}

/** Country numbers, and one more, fit one byte. */
export const MAX_COUNTRIES = 254

/**
 * Reads the file of a source, which is no city database. Throws `corrupt_data` naming the file where it cannot be that
 * source.
 */
export function readContents(row: SourceRow, file: CsvFile): SourceContents {
  const { path, bytes } = file
  const { family = 4 } = row
  switch (row.kind) {
    case 'asn': {
      const systems = readSystems(row, file)
      return { entries: countEntries({ 4: systems[4]?.ranges, 6: systems[6]?.ranges }), systems }
    }
    case 'asn-country':
    case 'country': {
      const countries = createNumbering(MAX_COUNTRIES)
      const ranges: PerFamily<Ranges> = { [family]: readCountryRanges(file, family, countries) }
      return { entries: countEntries(ranges), registrations: { ranges, countries: countries.list() } }
    }
    case 'ranges':
    case 'addresses':
    case 'crawler':
    case 'abuse':
    case 'line-names':
    case 'geofeed':
    case 'front-end': {
      const list = readList(bytes, row, path)
      // The collection of all geofeeds names no operator, so it is only read and counted.
      const isOperators = row.kind !== 'geofeed' || row.provider !== undefined
      const places = row.format === 'geofeed' && isOperators ? readPlaces(bytes) : undefined
      return { entries: countEntries(list.ranges), ...list, places }
    }
    case 'asn-list': {
      const systemList = readSystemList(bytes, row.format as SystemListFormat, path)
      return { entries: systemList.size, systemList }
    }
    case 'rdap':
      return { entries: countBootstrap(bytes.toString('utf8'), path) }
    case 'throwaway-mail':
      return { entries: readMailDomains(row, file).size }
    case 'city':
      throw new TypeError('a city database is read on its own')
  }
}

function readSystems({ format, family = 4 }: SourceRow, file: CsvFile): PerFamily<SystemRanges> {
  if (format === 'delegations') return readDelegations(file)
  if (format !== 'tsv-asn') return { [family]: readSystemRanges(file, family) }
  const files = splitSystems(file)
  return { 4: readSystemRanges(files[4], 4), 6: readSystemRanges(files[6], 6) }
}

/** Reads `start,end,country` lines; values are numbers of countries, 0 for ZZ, which means unknown. */
function readCountryRanges(file: CsvFile, family: 4 | 6, countries: Numbering): Ranges {
  return readRangeLines(file, family, (code) => {
    if (!/^[A-Z]{2}$/.test(code)) return undefined
    return countries.number(code === 'ZZ' ? undefined : code)
  })
}

function countEntries(ranges: PerFamily<Ranges>): number {
  return FAMILIES.reduce((sum, family) => sum + (ranges[family] === undefined ? 0 : countDistinct(ranges[family])), 0)
}

/** Counts the names of an RDAP bootstrap file (RFC 9224). Services with http alone count: the client refuses them. */
function countBootstrap(text: string, path: string): number {
  const count = parseBootstrap(text)?.size ?? 0
  if (count === 0) throw new SallyportError('corrupt_data', `${path}: the file contains no RDAP service`)
  return count
}
