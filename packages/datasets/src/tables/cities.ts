import { type CountryTable, type GeoReader, SallyportError, type SourceStatus } from '@sallyport/core'
import type { CityReader } from '../mmdb/database.ts'

/** One city source as it was opened, or why it could not be. */
export interface OpenedCity {
  readonly status: SourceStatus
  /** The one family that the source is for; absent: both. */
  readonly family?: 4 | 6
  readonly cities?: CityReader
}

/** What can be read of places: members are absent when no source could be opened. */
export interface Cities {
  readonly geo?: GeoReader
  readonly countries?: CountryTable
}

/**
 * Puts city sources together, in order of preference: for each family the first that has an address of it is read. A
 * family that none has throws `missing_data` in `read`, because nothing was looked up.
 */
export function joinCities(opened: readonly OpenedCity[]): Cities {
  const readerOf = (wanted: 4 | 6) =>
    opened.find(({ family = wanted, cities }) => family === wanted && cities?.families.includes(wanted))?.cities
  const four = readerOf(4)
  const six = readerOf(6)
  if (four === undefined && six === undefined) return {}
  return {
    geo: {
      read(address) {
        const reader = address.family === 4 ? four : six
        if (reader === undefined) {
          throw new SallyportError('missing_data', `no city database for IPv${address.family}`)
        }
        return reader.read(address)
      },
    },
    countries: {
      find(address) {
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
