import type { FileForm } from '../columns/column-file.ts'
import type { ColumnsOf } from '../columns/column-view.ts'
import type { DecodedFile } from '../columns/decode.ts'
import { CITY_FORMAT, type CityDescription } from './city.ts'
import { COLUMNS_4, COLUMNS_6, prefixed } from './partitions.ts'

/** The columns of a file of countries: the segments of a city file, cut only where the country changes. */
const COLUMNS = {
  ...prefixed('four', COLUMNS_4),
  ...prefixed('six', COLUMNS_6),
  // Numbers into the list of the description, for each segment; 0 is none.
  'four.countries': 'u8',
  'six.countries': 'u8',
} as const

/** The part of a city database that inspection needs, a tenth of its size; it is made, and made again, with the city file. */
export const COUNTRIES_FORM = {
  title: 'a file of countries',
  magic: 'SALLYCRY',
  format: CITY_FORMAT,
  columns: COLUMNS,
} as const satisfies FileForm<typeof COLUMNS>

export type CountriesColumns = ColumnsOf<typeof COLUMNS>
export type CountriesDescription = Pick<CityDescription, 'source' | 'families' | 'countries'>
export type DecodedCountries = DecodedFile<typeof COLUMNS, CountriesDescription>
