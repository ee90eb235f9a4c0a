import type { CountryTable } from '@sallyport/core'
import { findSegment, pickPartitions } from '../format/partitions.ts'
import type { TableColumns } from '../format/tables.ts'

/** Opens the tables of countries over the columns of a compiled file. */
export function openCountries({ columns, description }: TableColumns): CountryTable {
  const partitions = pickPartitions(columns, 'countries4', 'countries6')
  const numbers = { 4: columns['countries4.numbers'], 6: columns['countries6.numbers'] }
  const known = description.countriesBy.map((country) => Object.freeze(country))
  return {
    find: (address) => known[(numbers[address.family][findSegment(partitions, address)] as number) - 1],
  }
}
