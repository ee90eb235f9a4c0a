import type { AsType } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { dayNumber, dayOf } from '../format/days.ts'
import type { RangeSource } from '../format/range-source.ts'
import { createCountries, type PerFamily, readContents, type SourceContents } from '../parse/contents.ts'
import type { CsvFile } from '../parse/csv.ts'
import type { Numbering } from '../parse/numbering.ts'
import { type Places, readPlaces } from '../parse/places.ts'
import type { SystemList } from '../parse/system-list.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'
import type { Ranges } from '../ranges/ranges.ts'
import { dateOfFile, type SourceFile } from '../sources/source-file.ts'

/** A list of address ranges that was read. */
export interface RangeList extends RangeSource {
  readonly ranges: PerFamily<Ranges>
}

/** A list of autonomous systems that was read; its labels, by number. */
export interface ReadSystemList {
  readonly source: string
  /** Absent where the list asserts no type. */
  readonly asType?: AsType | undefined
  readonly systemList: SystemList
}

/** A list of published crawler ranges that was read. */
export interface CrawlerList {
  /** The crawler that it is named after; several may share it. */
  readonly slug: string
  readonly ranges: PerFamily<Ranges>
}

/** The places of a geofeed. */
export interface PlaceList extends Places {
  readonly source: string
}

/** The usable content of the sources; a refused source is not in here. */
export interface Parts {
  readonly systems: PerFamily<SystemRanges>
  /** Asked in this order where `systems` has none. */
  readonly fallbacks: readonly PerFamily<SystemRanges>[]
  readonly registrations: PerFamily<Ranges>
  readonly lists: readonly RangeList[]
  /** Addresses whose reverse names are those of lines. */
  readonly lines: readonly PerFamily<Ranges>[]
  readonly systemLists: readonly ReadSystemList[]
  readonly crawlers: readonly CrawlerList[]
  readonly places: readonly PlaceList[]
  readonly countries: Numbering
}

export interface PartsReader {
  /** Reads one source and keeps all of it, or nothing where it throws `corrupt_data`. */
  read(row: SourceRow, file: SourceFile, bytes: Buffer, onRead: (bytesRead: number) => void): SourceContents
  readonly parts: Parts
}

/** Trust in a list whose row states none. */
const DEFAULT_TRUST = 0.5

export function createPartsReader(): PartsReader {
  const countries = createCountries()
  const systems: Partial<Record<4 | 6, SystemRanges>> = {}
  const fallbacks: PerFamily<SystemRanges>[] = []
  const registrations: Partial<Record<4 | 6, Ranges>> = {}
  const lists: RangeList[] = []
  const lines: PerFamily<Ranges>[] = []
  const systemLists: ReadSystemList[] = []
  const crawlers: CrawlerList[] = []
  const places: PlaceList[] = []
  return {
    parts: { systems, fallbacks, registrations, lists, lines, systemLists, crawlers, places, countries },
    read(row, file, bytes, onRead) {
      const source: CsvFile = { path: file.path, bytes }
      const contents = readContents(row, source, { countries, onRead })
      const { ranges, systemList } = contents
      if (row.fallback && contents.systems !== undefined) fallbacks.push(contents.systems)
      else Object.assign(systems, contents.systems)
      Object.assign(registrations, contents.registrations)
      if (systemList !== undefined) {
        systemLists.push({ source: row.id, asType: row.asType, systemList })
      }
      if (ranges !== undefined) {
        // A list without a class, such as one of abuse, says nothing of a network.
        if (row.networkClass !== undefined) lists.push(rangeList(row, row.networkClass, file, contents, ranges))
        if (row.kind === 'line-names') lines.push(ranges)
        if (row.format === 'geofeed' && row.kind !== 'geofeed') places.push({ source: row.id, ...readPlaces(bytes) })
        if (row.kind === 'crawler' && row.crawler !== undefined) crawlers.push({ slug: row.crawler, ranges })
      }
      return contents
    },
  }
}

function rangeList(
  { id, kind, provider = '', trust = DEFAULT_TRUST, lifeDays }: SourceRow,
  networkClass: RangeList['networkClass'],
  file: SourceFile,
  { made }: SourceContents,
  ranges: RangeList['ranges'],
): RangeList {
  const date = made === undefined ? dateOfFile(file) : dayOf(made)
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
    ...(lifeDays === undefined ? {} : { expires: dayNumber(Date.parse(date)) + lifeDays }),
  }
}
