import { lifeDays } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { dayNumber } from '../format/days.ts'
import type { RangeSource } from '../format/range-source.ts'
import { MAX_COUNTRIES, type PerFamily, type Registrations, type SourceContents } from '../parse/contents.ts'
import { createNumbering, type Numbering } from '../parse/numbering.ts'
import type { Places } from '../parse/places.ts'
import type { SystemList } from '../parse/system-list.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'
import { FAMILIES, mapValues, type Ranges } from '../ranges/ranges.ts'
import { listKind } from '../sources/list-kind.ts'
import { findFileDate, type SourceFile } from '../sources/source-file.ts'
import type { CountryList } from './known-countries.ts'

export interface RangeList extends RangeSource, Pick<SourceContents, 'services'> {
  readonly ranges: PerFamily<Ranges>
}

/** The usable content of the sources; a refused source is not in here. */
export type Parts = PartsCollector['parts']
export type PartsCollector = ReturnType<typeof collectParts>

/** Trust in a list whose row states none. */
const DEFAULT_TRUST = 0.5

export function collectParts() {
  const parts = {
    systems: {} as Partial<Record<4 | 6, SystemRanges>>,
    /** The first of these that has a system decides where `systems` has none. */
    fallbacks: [] as PerFamily<SystemRanges>[],
    registrations: {} as Partial<Record<4 | 6, Ranges>>,
    /** Includes the tables of registrations. */
    countryLists: [] as CountryList[],
    lists: [] as RangeList[],
    /** Has addresses whose reverse names belong to access lines. */
    lines: [] as PerFamily<Ranges>[],
    /** Lists of autonomous systems; without a type where a list has none. */
    systemLists: [] as (Pick<SourceRow, 'asType'> & { readonly source: string; readonly systemList: SystemList })[],
    /** Has published crawler ranges by the slug of their crawler; several lists may share one. */
    crawlers: [] as { readonly slug: string; readonly ranges: PerFamily<Ranges> }[],
    places: [] as (Places & { readonly source: string })[],
    countries: createNumbering(MAX_COUNTRIES),
  }
  const addCountries = ({ id, kind }: SourceRow, read: Registrations) => {
    const basis = kind === 'country' ? 'use' : 'registration'
    parts.countryLists.push({ ...read, source: id, basis })
    if (basis === 'registration') Object.assign(parts.registrations, renumber(read, parts.countries))
  }
  return {
    parts,
    /** Adds the contents of one source, or nothing of them when it throws `corrupt_data`. */
    add(row: SourceRow, file: SourceFile, contents: SourceContents): void {
      const { ranges, systemList } = contents
      if (row.fallback && contents.systems !== undefined) parts.fallbacks.push(contents.systems)
      else Object.assign(parts.systems, contents.systems)
      if (contents.registrations !== undefined) addCountries(row, contents.registrations)
      if (systemList !== undefined) parts.systemLists.push({ source: row.id, asType: row.asType, systemList })
      if (ranges === undefined) return
      // A list without a class, such as one of abuse, says nothing of a network.
      if (row.networkClass !== undefined) parts.lists.push(rangeList(row, row.networkClass, file, contents, ranges))
      if (row.kind === 'line-names') parts.lines.push(ranges)
      if (contents.places !== undefined) parts.places.push({ source: row.id, ...contents.places })
      if (row.kind === 'crawler' && row.crawler !== undefined) parts.crawlers.push({ slug: row.crawler, ranges })
    },
  }
}

/** Gives the countries of a file's ranges the numbers that they have among those of all files. */
function renumber({ ranges, countries }: Registrations, all: Numbering): PerFamily<Ranges> {
  const numbers = Uint32Array.of(0, ...countries.map((country) => all.number(country)))
  const found = FAMILIES.flatMap((family) => ranges[family] ?? [])
  return Object.fromEntries(found.map((read) => [read.family, mapValues(read, (value) => numbers[value] as number)]))
}

function rangeList(
  row: SourceRow,
  networkClass: RangeList['networkClass'],
  file: SourceFile,
  { made, services }: SourceContents,
  ranges: RangeList['ranges'],
): RangeList {
  const { id, kind, provider = '', trust = DEFAULT_TRUST } = row
  const date = findFileDate(file, made)
  const age = kind === 'addresses' ? listKind(row) : undefined
  return {
    networkClass,
    single: kind === 'addresses',
    provider,
    source: id,
    kind,
    rule: kind === 'crawler' ? 'published' : 'list',
    trust,
    date,
    ranges,
    ...(services === undefined ? {} : { services }),
    ...(age === undefined ? {} : { expires: dayNumber(Date.parse(date)) + lifeDays(age) }),
  }
}
