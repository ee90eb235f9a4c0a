import type { Address } from '@sallyport/core'
import { readColumns } from '../columns/decode.ts'
import { COUNTRIES_FORM, type DecodedCountries } from '../format/city.ts'
import { findSegment, pickPartitions } from '../format/partitions.ts'

/** The countries of a compiled city database, in memory. */
export type LoadedCountries = ReturnType<typeof loadCountries>

/** Loads a file of countries, by its path or its bytes. Throws as `loadCity` does. */
export function loadCountries(source: string | SharedArrayBuffer) {
  const { columns, description }: DecodedCountries = readColumns(COUNTRIES_FORM, source)
  const partitions = pickPartitions(columns, 'four', 'six')
  const numbers = { 4: columns['four.countries'], 6: columns['six.countries'] }
  return {
    source: description.source,
    /** Families in which at least one address has a record. */
    families: description.families,
    /** Returns the two-letter code of an address. Never throws. */
    find(address: Address): string | undefined {
      const country = numbers[address.family][findSegment(partitions, address)] as number
      return description.countries[country - 1]
    },
  }
}
