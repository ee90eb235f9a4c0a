import type { SourceStatus } from '@sallyport/core'
import { describeFile } from '../columns/column-file.ts'
import type { ColumnViews } from '../columns/column-view.ts'
import type { DecodedFile } from '../columns/decode.ts'
import { COLUMNS_4, COLUMNS_6, prefixed } from './partitions.ts'

/** Counts up with every change of the layout or of what a column means; a file of another number is compiled again. */
export const CITY_FORMAT = 2

/**
 * The columns of a city file. All columns of a family that the database does not have are empty. `ids` are the numbers of the segments'
 * records, three bytes each, lowest first; record 0 is none. A column that no record uses is empty.
 */
const CITY_COLUMNS = {
  ...prefixed('four', COLUMNS_4),
  'four.ids': 'u8',
  ...prefixed('six', COLUMNS_6),
  'six.ids': 'u8',
  // Numbers into the lists of the description, and into the texts; 0 is none.
  'records.countries': 'u8',
  'records.zones': 'u16',
  'records.cities': 'u32',
  'records.regions': 'u32',
  'records.postalCodes': 'u32',
  // Ten-thousandths of a degree; `NO_PLACE` is none.
  'records.latitudes': 'i32',
  'records.longitudes': 'i32',
  // Kilometres; 0 is none.
  'records.radii': 'u16',
  'texts.bytes': 'u8',
  'texts.ends': 'u32',
} as const

export const CITY_FORM = describeFile('a city file', 'SALLYCTY', CITY_FORMAT, CITY_COLUMNS)

export type CityColumns = ColumnViews<typeof CITY_COLUMNS>
export type DecodedCity = DecodedFile<typeof CITY_COLUMNS, CityDescription>

/** A latitude that no place has. */
export const NO_PLACE = 0x7fffffff
export const DEGREE = 10_000
/** A record number takes 3 bytes. */
export const ID_BYTES = 3

/** Reads the number of a segment's record. */
export function readId(ids: Uint8Array, segment: number): number {
  const at = segment * ID_BYTES
  return (ids[at] as number) | ((ids[at + 1] as number) << 8) | ((ids[at + 2] as number) << 16)
}

export interface CityDescription {
  readonly source: SourceStatus
  /** Families in which at least one address has a record. */
  readonly families: readonly (4 | 6)[]
  /** Codes by number; numbers start at 1, and 0 is none. */
  readonly countries: readonly string[]
  /** IANA zone names by number; numbers start at 1, and 0 is none. */
  readonly zones: readonly string[]
}

/** The columns of a file of countries: the segments of a city file, cut only where the country changes. */
const COUNTRY_COLUMNS = {
  ...prefixed('four', COLUMNS_4),
  ...prefixed('six', COLUMNS_6),
  // Numbers into the list of the description, for each segment; 0 is none.
  'four.countries': 'u8',
  'six.countries': 'u8',
} as const

/** The part of a city database that inspection needs, a tenth of its size; it is made, and made again, with the city file. */
export const COUNTRIES_FORM = describeFile('a file of countries', 'SALLYCRY', CITY_FORMAT, COUNTRY_COLUMNS)

export type CountriesDescription = Pick<CityDescription, 'source' | 'families' | 'countries'>
export type DecodedCountries = DecodedFile<typeof COUNTRY_COLUMNS, CountriesDescription>
