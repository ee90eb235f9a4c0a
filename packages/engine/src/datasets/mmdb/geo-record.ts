import lookUpZone from '@photostructure/tz-lookup'
import type { GeoRecord, Writable } from '@sallyport/core'

type Fields = Readonly<Record<string, unknown>>

/**
 * A record of a city database in the words of the port, whichever layout it has: DB-IP's flat one, or MaxMind's nested
 * one. A member that is missing, empty or of another form is absent; coordinates are rounded to four decimals (11 m).
 * The time zone is read off the coordinates where the record has none.
 */
export function readGeoRecord(value: unknown): GeoRecord {
  const record = fields(value)
  const country = fields(record['country'])
  const location = fields(record['location'])
  const region = Array.isArray(record['subdivisions']) ? fields(record['subdivisions'][0]) : NO_FIELDS
  const place = coordinates(record['latitude'] ?? location['latitude'], record['longitude'] ?? location['longitude'])
  const countryCode =
    readCode(record['country_code']) ??
    readCode(country['iso_code']) ??
    readCode(fields(record['registered_country'])['iso_code'])
  const city = text(record['city']) ?? englishName(record['city'])
  const regionName = text(record['state1']) ?? englishName(region)
  const postalCode = text(record['postcode']) ?? text(fields(record['postal'])['code'])
  const timezone =
    text(record['timezone']) ?? text(location['time_zone']) ?? (place === undefined ? undefined : zoneAt(place))
  const accuracyRadius = readPositive(location['accuracy_radius'])
  // Filled in step by step: hundreds of thousands of records are read when a database is compiled.
  const geo: Writable<GeoRecord> = {}
  if (countryCode !== undefined) geo.countryCode = countryCode
  if (city !== undefined) geo.city = city
  if (regionName !== undefined) geo.region = regionName
  if (postalCode !== undefined) geo.postalCode = postalCode
  if (place !== undefined) {
    geo.latitude = place.latitude
    geo.longitude = place.longitude
  }
  if (timezone !== undefined) geo.timezone = timezone
  if (accuracyRadius !== undefined) geo.accuracyRadius = accuracyRadius
  return geo
}

const NO_FIELDS: Fields = Object.freeze({})

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : NO_FIELDS
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function englishName(value: unknown): string | undefined {
  return text(fields(fields(value)['names'])['en'])
}

function readCode(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z]{2}$/.test(value) && value !== 'ZZ' ? value : undefined
}

function readPositive(value: unknown): number | undefined {
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
