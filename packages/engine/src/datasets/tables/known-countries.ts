import { type CountryTable, findSegment4, findSegment6 } from '@sallyport/core'
import { partitionOf4, partitionOf6 } from '../format/partitions.ts'
import type { TableColumns } from '../format/tables.ts'

/** Opens the tables of countries over the columns of a compiled file. */
export function openCountries({ columns, description }: TableColumns): CountryTable {
  const four = partitionOf4(columns, 'countries4')
  const six = partitionOf6(columns, 'countries6')
  const [numbers4, numbers6] = [columns['countries4.numbers'], columns['countries6.numbers']]
  const known = description.countriesBy.map((country) => Object.freeze(country))
  return {
    find({ family, a, b, c, d }) {
      const number = family === 4 ? numbers4[findSegment4(four, d)] : numbers6[findSegment6(six, a, b, c, d)]
      return known[(number as number) - 1]
    },
  }
}
