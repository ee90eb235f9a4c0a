import type { Address, GeoRecord, Writable } from '@sallyport/core'
import { readColumns } from '../columns/decode.ts'
import { CITY_FORM, DEGREE, type DecodedCity, NO_PLACE, readId } from '../format/city.ts'
import { findSegment, pickPartitions } from '../format/partitions.ts'

/** A compiled city database in memory. */
export type CityTable = ReturnType<typeof loadCity>

/**
 * Loads a compiled city file, by its path or by its bytes as another thread of this process loaded or compiled them.
 * Throws `corrupt_data` naming the file for one byte too few, too many or changed, and `missing_data` when it is not
 * there.
 */
export function loadCity(source: string | SharedArrayBuffer) {
  const { columns, description, shared }: DecodedCity = readColumns(CITY_FORM, source)
  const partitions = pickPartitions(columns, 'four', 'six')
  const [ids4, ids6] = [columns['four.ids'], columns['six.ids']]
  const countries = columns['records.countries']
  const zones = columns['records.zones']
  const cities = columns['records.cities']
  const regions = columns['records.regions']
  const postalCodes = columns['records.postalCodes']
  const latitudes = columns['records.latitudes']
  const longitudes = columns['records.longitudes']
  const radii = columns['records.radii']
  const textAt = createTexts(columns['texts.bytes'], columns['texts.ends'])

  function recordNumber(address: Address): number {
    return readId(address.family === 4 ? ids4 : ids6, findSegment(partitions, address))
  }

  function makeRecord(number: number): GeoRecord {
    const country = countries[number] as number
    const city = cities[number] as number
    const region = regions[number] as number
    const postalCode = postalCodes[number] ?? 0
    const latitude = latitudes[number] as number
    const zone = zones[number] as number
    const radius = radii[number] ?? 0
    // Filled in step by step: a spread per optional member would cost more than the whole search.
    const record: Writable<GeoRecord> = {}
    if (country !== 0) record.countryCode = description.countries[country - 1] as string
    if (city !== 0) record.city = textAt(city)
    if (region !== 0) record.region = textAt(region)
    if (postalCode !== 0) record.postalCode = textAt(postalCode)
    if (latitude !== NO_PLACE) {
      record.latitude = latitude / DEGREE
      record.longitude = (longitudes[number] as number) / DEGREE
    }
    if (zone !== 0) record.timezone = description.zones[zone - 1] as string
    if (radius !== 0) record.accuracyRadius = radius
    return record
  }

  return {
    source: description.source,
    /** Returns `undefined` when there is no record. Never throws. */
    read(address: Address): GeoRecord | undefined {
      const number = recordNumber(address)
      return number === 0 ? undefined : makeRecord(number)
    },
    /** The bytes that all of this reads from; another thread that receives them loads them without a copy. */
    shared,
  }
}

/** Reads texts by number, from 1. Decodes each on first use, and keeps it. */
function createTexts({ buffer, byteOffset, byteLength }: Uint8Array, ends: Uint32Array): (number: number) => string {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const kept = new Array<string | undefined>(ends.length)
  return (number) => {
    const index = number - 1
    const known = kept[index]
    if (known !== undefined) return known
    const text = bytes.toString('utf8', index === 0 ? 0 : ends[index - 1], ends[index])
    kept[index] = text
    return text
  }
}
