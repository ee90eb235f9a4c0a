import { readFileSync } from 'node:fs'
import { formatAddress } from '@sallyport/core'
import { parseMmdb } from '../../src/datasets/mmdb/file.ts'
import { readGeoRecord } from '../../src/datasets/mmdb/geo-record.ts'
import type { CitySourceReader, PlaceReader } from '../../src/datasets/tables/cities.ts'

/** A city database as the reader of its format reads it, not compiled. Throws `corrupt_data` naming it. */
export function openDatabase(path: string, families: readonly (4 | 6)[]): CitySourceReader & PlaceReader {
  const { reader } = parseMmdb(readFileSync(path), path)
  const database: PlaceReader = {
    read(address) {
      const value = reader.get(formatAddress(address))
      return value === null ? undefined : readGeoRecord(value)
    },
  }
  return {
    families,
    ...database,
    country: (address) => database.read(address)?.countryCode,
    places: async () => database,
    opened: () => database,
  }
}
