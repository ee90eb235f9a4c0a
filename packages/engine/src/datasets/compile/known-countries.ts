import type { KnownCountry } from '@sallyport/core'
import { partition4, partition6, valueColumns } from '../format/partitions.ts'
import type { Registrations } from '../parse/contents.ts'
import { layOut } from '../ranges/layout.ts'
import { mapValues } from '../ranges/ranges.ts'
import { overlay, type Segments, uniform } from '../ranges/segments.ts'

/** A table of countries that was read, with its source and basis. */
export interface CountryList extends Registrations, Pick<KnownCountry, 'source' | 'basis'> {}

/** Lays tables of countries over each other. Where two tables know a place, the table of use wins, then the first. */
export function compileCountries(lists: readonly CountryList[]) {
  const ranked = [...lists.filter(({ basis }) => basis === 'use'), ...lists.filter(({ basis }) => basis !== 'use')]
  const countriesBy: KnownCountry[] = []
  const layers: Record<4 | 6, Segments> = { 4: uniform(4, 0), 6: uniform(6, 0) }
  for (const { ranges, countries, source, basis } of ranked) {
    const before = countriesBy.length
    countriesBy.push(...countries.map((code) => ({ code, source, basis })))
    for (const family of [4, 6] as const) {
      const own = ranges[family]
      if (own === undefined) continue
      const numbered = layOut(mapValues(own, (value) => (value === 0 ? 0 : before + value)))
      layers[family] = overlay(layers[family], numbered, (known, next) => known || next)
    }
  }
  return {
    columns: {
      ...valueColumns('countries4', 'numbers', partition4(layers[4])),
      ...valueColumns('countries6', 'numbers', partition6(layers[6])),
    },
    countriesBy,
  }
}
