import { type Address, findSegment4, findSegment6, type SourceStatus } from '@sallyport/core'
import { readColumns } from '../columns/decode.ts'
import { COUNTRIES_FORM, type DecodedCountries } from '../format/countries.ts'
import { partitionOf4, partitionOf6 } from '../format/partitions.ts'

/** The countries of a compiled city database, in memory. */
export interface LoadedCountries {
  /** Returns the two-letter code of an address. Never throws. */
  find(address: Address): string | undefined
  /** The city database that says so. */
  readonly source: SourceStatus
  /** Families in which at least one address has a record. */
  readonly families: readonly (4 | 6)[]
}

/** Loads a file of countries, by its path or its bytes. Throws as `loadCity` does. */
export function loadCountries(source: string | SharedArrayBuffer): LoadedCountries {
  const { columns, description }: DecodedCountries = readColumns(COUNTRIES_FORM, source)
  const four = partitionOf4(columns, 'four')
  const six = partitionOf6(columns, 'six')
  const [countries4, countries6] = [columns['four.countries'], columns['six.countries']]
  return {
    source: description.source,
    families: description.families,
    find({ family, a, b, c, d }) {
      const country = family === 4 ? countries4[findSegment4(four, d)] : countries6[findSegment6(six, a, b, c, d)]
      return description.countries[(country as number) - 1]
    },
  }
}
