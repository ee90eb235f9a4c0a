import {
  type Address,
  type CountryTable,
  type GeoReader,
  type GeoRecord,
  SallyportError,
  type SourceStatus,
} from '@sallyport/core'
import type { CityReader } from '../mmdb/database.ts'
import { completed, type PlaceTable } from './places.ts'

/** One city source as it was opened, or why it could not be. */
export interface OpenedCity {
  readonly status: SourceStatus
  /** The one family that the source is for; absent: both. */
  readonly family?: 4 | 6 | undefined
  readonly cities?: CityReader | undefined
}

/** Readers of places: members are absent when no source could be opened. */
export interface Cities {
  readonly geo?: GeoReader | undefined
  readonly countries?: CountryTable | undefined
}

/**
 * Puts city sources together, in order of preference: for each family the first that has an address of it is read. A
 * family that none has throws `missing_data` in `read`, because nothing was looked up. What an operator says of its own
 * prefixes (`places`) goes before all of them.
 */
export function joinCities(opened: readonly OpenedCity[], places?: PlaceTable): Cities {
  const readerOf = (wanted: 4 | 6) =>
    opened.find(({ family = wanted, cities }) => family === wanted && cities?.families.includes(wanted))?.cities
  const four = readerOf(4)
  const six = readerOf(6)
  if (four === undefined && six === undefined && places === undefined) return {}
  return {
    geo: {
      read(address) {
        const reader = address.family === 4 ? four : six
        const place = places?.find(address)
        if (place !== undefined) return completed(place, readSafely(reader, address))
        if (reader === undefined) {
          throw new SallyportError('missing_data', `no city database for IPv${address.family}`)
        }
        return reader.read(address)
      },
    },
    countries: {
      find(address) {
        const place = places?.find(address)
        if (place?.countryCode !== undefined) return place.countryCode
        try {
          return (address.family === 4 ? four : six)?.country(address)
        } catch {
          // A corrupt record of a database that is not compiled: the country is unknown.
          return undefined
        }
      },
    },
  }
}

/** A corrupt record takes nothing from what the operator says. */
function readSafely(reader: CityReader | undefined, address: Address): GeoRecord | undefined {
  try {
    return reader?.read(address)
  } catch {
    return undefined
  }
}
