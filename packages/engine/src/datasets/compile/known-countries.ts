import type { KnownCountry } from '@sallyport/core'
import { partition4, partition6, prefixed } from '../format/partitions.ts'
import type { Columns, Description } from '../format/tables.ts'
import type { Registrations } from '../parse/contents.ts'
import { layOut } from '../ranges/layout.ts'
import { withValues } from '../ranges/ranges.ts'
import { overlay, type Segments, uniform } from '../ranges/segments.ts'

/** A table of countries that was read, with its source and basis. */
export interface CountryList extends Registrations, Pick<KnownCountry, 'source' | 'basis'> {}

type CountryColumns = Pick<Columns, Extract<keyof Columns, `countries4.${string}` | `countries6.${string}`>>

/** Lays tables of countries over each other. Where two tables know a place, the table of use wins, then the first. */
export function compileCountries(
  lists: readonly CountryList[],
): { readonly columns: CountryColumns } & Pick<Description, 'countriesBy'> {
  const ranked = [...lists.filter(({ basis }) => basis === 'use'), ...lists.filter(({ basis }) => basis !== 'use')]
  const countriesBy: KnownCountry[] = []
  const layers: Record<4 | 6, Segments> = { 4: uniform(4, 0), 6: uniform(6, 0) }
  for (const { ranges, countries, source, basis } of ranked) {
    const before = countriesBy.length
    countriesBy.push(...countries.map((code) => ({ code, source, basis })))
    for (const family of [4, 6] as const) {
      const own = ranges[family]
      if (own === undefined) continue
      const numbers = own.values.map((value) => (value === 0 ? 0 : before + value))
      layers[family] = overlay(layers[family], layOut(withValues(own, numbers)), (known, next) => known || next)
    }
  }
  const four = partition4(layers[4])
  const six = partition6(layers[6])
  return {
    columns: {
      ...prefixed('countries4', four.partition),
      'countries4.numbers': Uint16Array.from(four.values),
      ...prefixed('countries6', six.partition),
      'countries6.numbers': Uint16Array.from(six.values),
    },
    countriesBy,
  }
}
