import { isCountry } from '@sallyport/core'
import { iso31662 } from 'iso-3166'
import { parseEntry } from '../ranges/entry.ts'
import { createRangeWriter, type Ranges } from '../ranges/ranges.ts'
import { contentLines, field } from './formats.ts'

/** An operator's place of a prefix of its own. A member is absent when it says nothing of it. */
export interface GeofeedPlace {
  readonly countryCode: string
  readonly region?: string | undefined
  readonly city?: string | undefined
  readonly postalCode?: string | undefined
}

/** The places of a geofeed; values of the ranges are positions in `places`. */
export interface Places {
  readonly ranges: Readonly<Record<4 | 6, Ranges>>
  readonly places: readonly GeofeedPlace[]
}

const MAX_NAME_LENGTH = 100

/** City databases write regions by their names, feeds by their codes. */
const REGIONS: ReadonlyMap<string, string> = new Map(iso31662.map(({ code, name }) => [code, name]))

/**
 * Reads the places of a geofeed (RFC 8805: `192.0.2.0/24,DE,DE-BE,Berlin,`), of which the prefixes were found good. Lines
 * without a country are left out: their operator keeps it back.
 */
export function readPlaces(bytes: Buffer): Places {
  const writers = { 4: createRangeWriter(4), 6: createRangeWriter(6) }
  const places: GeofeedPlace[] = []
  const numbers = new Map<string, number>()
  for (const line of contentLines(bytes)) {
    const comma = line.indexOf(',')
    const entry = comma === -1 ? undefined : parseEntry(field(line, ',', 0))
    if (entry === undefined) continue
    const written = line.slice(comma + 1)
    let number = numbers.get(written)
    if (number === undefined) {
      const place = placeOf(line)
      number = place === undefined ? -1 : places.push(place) - 1
      numbers.set(written, number)
    }
    if (number !== -1) writers[entry.first.family].add(entry.first, entry.last, number)
  }
  return { ranges: { 4: writers[4].finish(), 6: writers[6].finish() }, places }
}

function placeOf(line: string): GeofeedPlace | undefined {
  const countryCode = field(line, ',', 1).toUpperCase()
  if (!isCountry(countryCode)) return undefined
  const code = field(line, ',', 2).toUpperCase()
  const region = code.startsWith(`${countryCode}-`) ? REGIONS.get(code) : undefined
  const city = field(line, ',', 3).slice(0, MAX_NAME_LENGTH)
  const postalCode = field(line, ',', 4).slice(0, MAX_NAME_LENGTH)
  return {
    countryCode,
    region,
    ...(city === '' ? {} : { city }),
    ...(postalCode === '' ? {} : { postalCode }),
  }
}
