import lookUpZone from '@photostructure/tz-lookup'
import type { GeoRecord } from '@sallyport/core'

type Fields = Readonly<Record<string, unknown>>

/**
 * A record of a city database in the words of the port, whichever layout it has: DB-IP's flat one, or MaxMind's nested
 * one. A member that is missing, empty or of another form is absent; coordinates are rounded to four decimals (11 m).
 * The time zone is read off the coordinates where the record has none.
 */
export function geoRecordOf(value: unknown): GeoRecord {
  const record = fields(value)
  const country = fields(record['country'])
  const location = fields(record['location'])
  const region = Array.isArray(record['subdivisions']) ? fields(record['subdivisions'][0]) : {}
  const place = coordinates(record['latitude'] ?? location['latitude'], record['longitude'] ?? location['longitude'])
  return {
    ...member(
      'countryCode',
      countryCode(record['country_code']) ??
        countryCode(country['iso_code']) ??
        countryCode(fields(record['registered_country'])['iso_code']),
    ),
    ...member('city', text(record['city']) ?? englishName(record['city'])),
    ...member('region', text(record['state1']) ?? englishName(region)),
    ...member('postalCode', text(record['postcode']) ?? text(fields(record['postal'])['code'])),
    ...place,
    ...member(
      'timezone',
      text(record['timezone']) ?? text(location['time_zone']) ?? (place === undefined ? undefined : zoneAt(place)),
    ),
    ...member('accuracyRadius', positive(location['accuracy_radius'])),
  }
}

function member<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value }
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function englishName(value: unknown): string | undefined {
  return text(fields(fields(value)['names'])['en'])
}

function countryCode(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z]{2}$/.test(value) && value !== 'ZZ' ? value : undefined
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined
}

interface Coordinates {
  readonly latitude: number
  readonly longitude: number
}

function coordinates(latitude: unknown, longitude: unknown): Coordinates | undefined {
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return undefined
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return undefined
  return { latitude: rounded(latitude), longitude: rounded(longitude) }
}

/** Databases hold 32-bit floats: 51.51430130004883 is noise after the fourth decimal. Never -0. */
function rounded(degrees: number): number {
  return Math.round(degrees * 10_000) / 10_000 + 0
}

function zoneAt({ latitude, longitude }: Coordinates): string | undefined {
  try {
    return text(lookUpZone(latitude, longitude))
  } catch {
    return undefined
  }
}
