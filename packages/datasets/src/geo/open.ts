import { readFile } from 'node:fs/promises'
import { type Address, formatAddress, type GeoReader, type GeoRecord, SallyportError } from '@sallyport/core'
import { corrupt, type MmdbFile, parseMmdb } from '../mmdb/file.ts'
import { probe } from '../mmdb/probe.ts'
import type { ResolvedSource } from '../sources/resolve.ts'
import { geoRecordOf } from './record.ts'

/** The city databases to read. One file may be named for both families. */
export interface GeoFiles {
  readonly ipv4?: string
  readonly ipv6?: string
}

/**
 * Opens city databases, in the flat DB-IP layout or MaxMind's nested one. A family without a file of its own is read
 * from the other's where that holds it; else `read` throws `missing_data` for it, because nothing was looked up.
 * Rejects with `corrupt_data` or `missing_data`, naming the file.
 */
export async function openGeo({ ipv4, ipv6 }: GeoFiles): Promise<GeoReader> {
  const six = ipv6 === undefined ? undefined : await openFile(ipv6)
  const four = ipv4 === undefined ? undefined : ipv4 === ipv6 ? six : await openFile(ipv4)
  if (ipv6 !== undefined && six?.file.ipVersion !== 6) throw corrupt(ipv6, 'an IPv4 database, named for IPv6')
  const holding = (family: 4 | 6) => [four, six].find((opened) => opened?.holds[family])?.file
  return readerOf({ 4: four?.file ?? holding(4), 6: six?.file ?? holding(6) })
}

/** What could be opened of the city sources, and why the others could not, by source id. */
export interface OpenedCities {
  /** Absent when nothing could be opened. */
  readonly geo?: GeoReader
  readonly refused: ReadonlyMap<string, string>
}

/** Opens the city databases among resolved sources, each on its own: one that is corrupt leaves the others in use. */
export async function openCities(sources: readonly ResolvedSource[]): Promise<OpenedCities> {
  const files: FileOfFamily = {}
  const refused = new Map<string, string>()
  for (const { row, file } of sources) {
    if (row.kind !== 'city' || file === undefined) continue
    try {
      const opened = await openFile(file.path)
      for (const family of [4, 6] as const) {
        if ((row.family ?? family) === family && opened.holds[family]) files[family] ??= opened.file
      }
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      refused.set(row.id, error.message)
    }
  }
  const some = files[4] !== undefined || files[6] !== undefined
  return { ...(some ? { geo: readerOf(files) } : {}), refused }
}

type FileOfFamily = { 4?: MmdbFile | undefined; 6?: MmdbFile | undefined }

function readerOf(files: FileOfFamily): GeoReader {
  return {
    read(address) {
      const file = files[address.family]
      if (file === undefined) throw new SallyportError('missing_data', `no city database for IPv${address.family}`)
      return readRecord(file, address)
    },
  }
}

/** The reader believes any text, so it only ever gets an address of ours, and of a family that the file has. */
function readRecord({ reader }: MmdbFile, address: Address): GeoRecord | undefined {
  const value = reader.get(formatAddress(address))
  return value === null ? undefined : geoRecordOf(value)
}

interface OpenedFile {
  readonly file: MmdbFile
  /** Families of which some address has a record. */
  readonly holds: Readonly<Record<4 | 6, boolean>>
}

async function openFile(path: string): Promise<OpenedFile> {
  const file = parseMmdb(await readWhole(path), path)
  const found = { 4: probe(file, 4), 6: file.ipVersion === 6 ? probe(file, 6) : [] }
  if (![...found[4], ...found[6]].some((value) => geoRecordOf(value).countryCode !== undefined)) {
    throw corrupt(path, 'no record of it has a country')
  }
  return { file, holds: { 4: found[4].length > 0, 6: found[6].length > 0 } }
}

async function readWhole(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new SallyportError(code === 'ENOENT' ? 'missing_data' : 'corrupt_data', `${path}: ${message}`)
  }
}
