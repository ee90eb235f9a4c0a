import { type Address, type GeoRecord, lastNotAbove } from '@sallyport/core'
import type { TableColumns } from '../format/tables.ts'

/** Places that operators publish of their own prefixes. */
export type PlaceTable = ReturnType<typeof openPlaces>

/** Opens the places over the columns of a compiled file. */
export function openPlaces({ columns, description }: TableColumns) {
  const [starts4, starts6] = [columns['places4.starts'], columns['places6.starts']]
  const [numbers4, numbers6] = [columns['places4.numbers'], columns['places6.numbers']]
  const places: readonly GeoRecord[] = description.places.map(({ regionCode, ...place }) => Object.freeze(place))
  const findIndex = (address: Address): number => {
    const [starts, numbers] = address.family === 4 ? [starts4, numbers4] : [starts6, numbers6]
    return (numbers[lastNotAbove(starts, address)] as number) - 1
  }
  return {
    find: (address: Address): GeoRecord | undefined => places[findIndex(address)],
    /** Returns the region of the place (ISO 3166-2). */
    region: (address: Address): string | undefined => description.places[findIndex(address)]?.regionCode,
  }
}

/**
 * Completes an operator's place from the city database's record of the same place: in full when the record names the same city, by the time
 * zone when it names the same region.
 */
export function completed(place: GeoRecord, record: GeoRecord | undefined): GeoRecord {
  if (record === undefined || record.countryCode !== place.countryCode) return place
  if (place.city === undefined && place.region === undefined) return { ...record, ...place }
  const isSameRegion = place.region === undefined || place.region === record.region
  const isSameCity = place.city === undefined || place.city.toLowerCase() === record.city?.toLowerCase()
  if (isSameRegion && isSameCity) return { ...record, ...place }
  return isSameRegion && record.timezone !== undefined ? { timezone: record.timezone, ...place } : place
}
