import { readFile } from 'node:fs/promises'
import {
  type Address,
  type CountryTable,
  formatAddress,
  type GeoReader,
  type GeoRecord,
  SallyportError,
  type SourceStatus,
} from '@sallyport/core/tables'
import { corrupt, type MmdbFile, parseMmdb } from '../mmdb/file.ts'
import { probe } from '../mmdb/probe.ts'
import { geoRecordOf } from './record.ts'
import type { CityTable } from './table.ts'

/** City data of one source: a compiled table, or a database that is not compiled yet. */
export interface CityReader extends Pick<CityTable, 'families' | 'read' | 'country'> {}

/**
 * Opens a city database as it is, in the flat DB-IP layout or MaxMind's nested one, for use before it is compiled: a
 * read takes ten times as long. Rejects with `corrupt_data` or `missing_data`, naming the file; reads throw
 * `corrupt_data` where the database turns out to be corrupt.
 */
export async function openDatabase(path: string): Promise<CityReader> {
  const file = parseMmdb(await readWhole(path), path)
  const found = { 4: probe(file, 4), 6: file.ipVersion === 6 ? probe(file, 6) : [] }
  if (![...found[4], ...found[6]].some((value) => geoRecordOf(value).countryCode !== undefined)) {
    throw corrupt(path, 'no record of it has a country')
  }
  return {
    families: ([4, 6] as const).filter((family) => found[family].length > 0),
    read: (address) => readRecord(file, address),
    country: (address) => readRecord(file, address)?.countryCode,
  }
}

/** The reader believes any text, so it only ever gets an address of ours, and of a family that the file has. */
function readRecord({ reader, path }: MmdbFile, address: Address): GeoRecord | undefined {
  try {
    const value = reader.get(formatAddress(address))
    return value === null ? undefined : geoRecordOf(value)
  } catch (error) {
    throw corrupt(path, error instanceof Error ? error.message : 'unreadable')
  }
}

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

async function readWhole(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new SallyportError(code === 'ENOENT' ? 'missing_data' : 'corrupt_data', `${path}: ${message}`)
  }
}
