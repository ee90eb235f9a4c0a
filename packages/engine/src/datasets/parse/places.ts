import { currentRegion, findRegion, isCountry, nameRegion } from '@sallyport/core'
import { parseEntry } from '../ranges/entry.ts'
import { createRangeWriter, type Ranges } from '../ranges/ranges.ts'
import { contentLines, field } from './formats.ts'

/** The place that an operator publishes for a prefix of its own. A member is absent when the operator does not say it. */
export interface GeofeedPlace {
  readonly countryCode: string
  readonly region?: string | undefined
  /** ISO 3166-2, as the feed has it, or the code that took its place. */
  readonly regionCode?: string | undefined
  readonly city?: string | undefined
  readonly postalCode?: string | undefined
}

/** The places of a geofeed; values of the ranges are positions in `places`. */
export interface Places {
  readonly ranges: Readonly<Record<4 | 6, Ranges>>
  readonly places: readonly GeofeedPlace[]
}

const MAX_NAME_LENGTH = 100

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
      const place = parsePlace(line)
      number = place === undefined ? -1 : places.push(place) - 1
      numbers.set(written, number)
    }
    if (number !== -1) writers[entry.first.family].add(entry.first, entry.last, number)
  }
  return { ranges: { 4: writers[4].finish(), 6: writers[6].finish() }, places }
}

function parsePlace(line: string): GeofeedPlace | undefined {
  const countryCode = field(line, ',', 1).toUpperCase()
  if (!isCountry(countryCode)) return undefined
  const regionCode = readRegion(countryCode, field(line, ',', 2))
  // City databases write regions by their names, feeds by their codes.
  const region = regionCode === undefined ? undefined : nameRegion(regionCode)
  const city = field(line, ',', 3).slice(0, MAX_NAME_LENGTH)
  const postalCode = field(line, ',', 4).slice(0, MAX_NAME_LENGTH)
  return {
    countryCode,
    region,
    ...(regionCode === undefined ? {} : { regionCode }),
    ...(city === '' ? {} : { city }),
    ...(postalCode === '' ? {} : { postalCode }),
  }
}

/** Reads the region of a line. Some feeds leave out its country, or write its name; digits alone may be a code of another system. */
function readRegion(country: string, written: string): string | undefined {
  if (/^[a-z]{2}-/i.test(written)) return written.toUpperCase().startsWith(country) ? currentRegion(written) : undefined
  const code = /^[a-z]+$/i.test(written) ? currentRegion(`${country}-${written}`) : undefined
  return code ?? findRegion(country, written)
}
