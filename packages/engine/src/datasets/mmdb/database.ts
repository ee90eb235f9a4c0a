import { readFile } from 'node:fs/promises'
import { type Address, formatAddress, type GeoRecord, SallyportError } from '@sallyport/core'
import { corrupt, type MmdbFile, parseMmdb } from './file.ts'
import { geoRecordOf } from './geo-record.ts'
import { probe } from './probe.ts'

/** A city database that is not compiled. */
export interface CityReader {
  /** Families of which some address has a record. */
  readonly families: readonly (4 | 6)[]
  /** `undefined` where there is no record. */
  read(address: Address): GeoRecord | undefined
  /** Only the country of the record. */
  country(address: Address): string | undefined
}

/**
 * Opens a city database as it is, in the flat DB-IP layout or MaxMind's nested one, for use before it is compiled: a
 * read takes ten times as long. Rejects with `corrupt_data` or `missing_data`, naming the file; reads throw
 * `corrupt_data` where the database turns out to be corrupt.
 */
export async function openDatabase(path: string): Promise<CityReader> {
  const file = parseMmdb(await readBytes(path), path)
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

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new SallyportError(code === 'ENOENT' ? 'missing_data' : 'corrupt_data', `${path}: ${message}`)
  }
}
