import { type AsType, lifeDays } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { dayNumber, formatDay } from '../format/days.ts'
import type { RangeSource } from '../format/range-source.ts'
import { createCountries, type PerFamily, type Registrations, type SourceContents } from '../parse/contents.ts'
import type { Numbering } from '../parse/numbering.ts'
import type { Places } from '../parse/places.ts'
import type { SystemList } from '../parse/system-list.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'
import { FAMILIES, type Ranges, withValues } from '../ranges/ranges.ts'
import { listKind } from '../sources/list-kind.ts'
import { dateOfFile, type SourceFile } from '../sources/source-file.ts'
import type { CountryList } from './known-countries.ts'

/** A list of address ranges that was read. */
export interface RangeList extends RangeSource {
  readonly ranges: PerFamily<Ranges>
  /** Services of a list that names them; the values of its ranges count them, from 1. */
  readonly services?: readonly string[] | undefined
}

/** A list of autonomous systems that was read: labels by number. */
export interface ReadSystemList {
  readonly source: string
  /** Absent when the list has no type. */
  readonly asType?: AsType | undefined
  readonly systemList: SystemList
}

/** A list of published crawler ranges that was read. */
export interface CrawlerList {
  /** The crawler that it is named after; several may share it. */
  readonly slug: string
  readonly ranges: PerFamily<Ranges>
}

export interface PlaceList extends Places {
  readonly source: string
}

/** The usable content of the sources; a refused source is not in here. */
export interface Parts {
  readonly systems: PerFamily<SystemRanges>
  /** Where `systems` has no system, the first of these that has one decides. */
  readonly fallbacks: readonly PerFamily<SystemRanges>[]
  readonly registrations: PerFamily<Ranges>
  /** Includes the tables of registrations. */
  readonly countryLists: readonly CountryList[]
  readonly lists: readonly RangeList[]
  /** Addresses whose reverse names belong to access lines. */
  readonly lines: readonly PerFamily<Ranges>[]
  readonly systemLists: readonly ReadSystemList[]
  readonly crawlers: readonly CrawlerList[]
  readonly places: readonly PlaceList[]
  readonly countries: Numbering
}

export interface PartsCollector {
  /** Adds the contents of one source, or nothing of them when it throws `corrupt_data`. */
  add(row: SourceRow, file: SourceFile, contents: SourceContents): void
  readonly parts: Parts
}

/** Trust in a list whose row states none. */
const DEFAULT_TRUST = 0.5

export function collectParts(): PartsCollector {
  const countries = createCountries()
  const systems: Partial<Record<4 | 6, SystemRanges>> = {}
  const fallbacks: PerFamily<SystemRanges>[] = []
  const registrations: Partial<Record<4 | 6, Ranges>> = {}
  const countryLists: CountryList[] = []
  const lists: RangeList[] = []
  const lines: PerFamily<Ranges>[] = []
  const systemLists: ReadSystemList[] = []
  const crawlers: CrawlerList[] = []
  const places: PlaceList[] = []
  const addCountries = ({ id, kind }: SourceRow, read: Registrations) => {
    const basis = kind === 'country' ? 'use' : 'registration'
    countryLists.push({ ...read, source: id, basis })
    if (basis === 'registration') Object.assign(registrations, renumber(read, countries))
  }
  return {
    parts: {
      systems,
      fallbacks,
      registrations,
      countryLists,
      lists,
      lines,
      systemLists,
      crawlers,
      places,
      countries,
    },
    add(row, file, contents) {
      const { ranges, systemList } = contents
      if (row.fallback && contents.systems !== undefined) fallbacks.push(contents.systems)
      else Object.assign(systems, contents.systems)
      if (contents.registrations !== undefined) addCountries(row, contents.registrations)
      if (systemList !== undefined) {
        systemLists.push({ source: row.id, asType: row.asType, systemList })
      }
      if (ranges !== undefined) {
        // A list without a class, such as one of abuse, says nothing of a network.
        if (row.networkClass !== undefined) lists.push(rangeList(row, row.networkClass, file, contents, ranges))
        if (row.kind === 'line-names') lines.push(ranges)
        if (contents.places !== undefined) places.push({ source: row.id, ...contents.places })
        if (row.kind === 'crawler' && row.crawler !== undefined) crawlers.push({ slug: row.crawler, ranges })
      }
    },
  }
}

/** Gives the countries of a file's ranges the numbers that they have among those of all files. */
function renumber({ ranges, countries }: Registrations, all: Numbering): PerFamily<Ranges> {
  const numbers = Uint32Array.of(0, ...countries.map((country) => all.number(country)))
  const found = FAMILIES.flatMap((family) => {
    const read = ranges[family]
    return read === undefined
      ? []
      : [
          [
            family,
            withValues(
              read,
              read.values.map((value) => numbers[value] as number),
            ),
          ],
        ]
  })
  return Object.fromEntries(found)
}

function rangeList(
  row: SourceRow,
  networkClass: RangeList['networkClass'],
  file: SourceFile,
  { made, services }: SourceContents,
  ranges: RangeList['ranges'],
): RangeList {
  const { id, kind, provider = '', trust = DEFAULT_TRUST } = row
  const date = made === undefined ? dateOfFile(file) : formatDay(made)
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
