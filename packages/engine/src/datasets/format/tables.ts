import type { KnownCountry, SourceStatus, SystemBasis } from '@sallyport/core'
import { describeFile } from '../columns/column-file.ts'
import type { ColumnViews } from '../columns/column-view.ts'
import type { DecodedFile } from '../columns/decode.ts'
import type { GeofeedPlace } from '../parse/places.ts'
import { COLUMNS_4, COLUMNS_6, prefixed } from './partitions.ts'
import type { RangeSource } from './range-source.ts'

/** Counts up with every change of the layout or of what a column means; a file of another number is compiled again. */
export const TABLES_FORMAT = 10

/** The columns of a tables file and their types. Names are `<table>.<column>`. */
const COLUMNS = {
  ...prefixed('networks4', COLUMNS_4),
  'networks4.records': 'u32',
  ...prefixed('networks6', COLUMNS_6),
  'networks6.records': 'u32',
  'records.systems': 'u32',
  'records.evidence': 'u32',
  'records.flags': 'u8',
  'addresses.filter': 'u32',
  'addresses.four': 'u32',
  'addresses.six': 'u32',
  // Position of the list that names the address, and the day it expires on; 0 is never.
  'addresses.lists': 'u8',
  'addresses.expires': 'u16',
  // Starts are four words for both families: these are some thousand segments.
  'crawlers4.starts': 'u32',
  'crawlers4.sets': 'u32',
  'crawlers6.starts': 'u32',
  'crawlers6.sets': 'u32',
  // Positions in `places` count from 1; 0 means none.
  'places4.starts': 'u32',
  'places4.numbers': 'u32',
  'places6.starts': 'u32',
  'places6.numbers': 'u32',
  // Positions in `countriesBy` count from 1; 0 means that no table of countries has the address.
  ...prefixed('countries4', COLUMNS_4),
  'countries4.numbers': 'u16',
  ...prefixed('countries6', COLUMNS_6),
  'countries6.numbers': 'u16',
  'systems.asns': 'u32',
  'systems.nameEnds': 'u32',
  'systems.names': 'u8',
  'systems.types': 'u8',
  'systems.classes': 'u8',
  'systems.bases': 'u8',
  'systems.hostLike': 'u8',
  'systems.brands': 'u16',
  'systems.lists': 'u8',
  'systems.countries': 'u8',
  'systems.ipv4Prefixes': 'u32',
  'systems.ipv6Prefixes': 'u32',
  'systems.ipv4Addresses': 'f64',
  'systems.byAddresses': 'u32',
  'systems.byPrefixes': 'u32',
  // The folded names in the order of `byAddresses`, each followed by a line feed.
  'systems.folded': 'u8',
  'systems.foldedEnds': 'u32',
} as const

/** Values of `AutonomousSystem.basis`; the index of a value is its number in `systems.bases`. */
export const BASES = ['operator', 'name', 'list', 'prefixes', 'shape', 'none'] as const satisfies readonly SystemBasis[]

export const TABLES_FORM = describeFile('a tables file', 'SALLYTBL', TABLES_FORMAT, COLUMNS)

export type Columns = ColumnViews<typeof COLUMNS>
export type DecodedTables = DecodedFile<typeof COLUMNS, Description>
/** The columns and the description of tables, wherever they were read from. */
export type TableColumns = Pick<DecodedTables, 'columns' | 'description'>

/** Describes a tables file beyond its columns. */
export interface Description {
  readonly sources: readonly SourceStatus[]
  /** Lists of prefixes by position, in order of precedence. */
  readonly ranges: readonly RangeSource[]
  /** Sets of hits by number, as `records.evidence` counts them; a hit is a `hitCode` of a list. */
  readonly evidence: readonly (readonly number[])[]
  /** Lists of single addresses by position, in order of precedence, as `addresses.lists` counts them. */
  readonly addressLists: readonly RangeSource[]
  /** Slugs of the lists of crawler ranges, by position; several lists may have one slug. */
  readonly crawlers: readonly string[]
  /** Sets of lists of crawler ranges, each positions in `crawlers`, as `crawlers4.sets` counts them. The first is empty. */
  readonly crawlerSets: readonly (readonly number[])[]
  /** Places of geofeeds, each with the id of its source. */
  readonly places: readonly (GeofeedPlace & { readonly source: string })[]
  /** Countries, each with the table that says so, as `countries4.numbers` counts them. */
  readonly countriesBy: readonly KnownCountry[]
  /** Codes by number; numbers start at 1, and 0 is none. */
  readonly countries: readonly string[]
  readonly brands: readonly string[]
  /** Ids of the lists that systems were typed by; the first is ''. */
  readonly systemLists: readonly string[]
  readonly rangesLoaded: boolean
  readonly proxiesLoaded: boolean
  /** Whether a table has content; the columns of the others exist and are empty. */
  readonly loaded: { readonly networks: boolean; readonly systems: boolean }
}
