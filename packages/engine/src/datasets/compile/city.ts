import { readFileSync } from 'node:fs'
import { createPartition6Writer, type SourceStatus } from '@sallyport/core'
import { makeFolder, replaceFile } from '#files'
import { readColumns } from '../columns/decode.ts'
import { encodeColumns } from '../columns/encode.ts'
import {
  CITY_FORM,
  type CityColumns,
  type CityDescription,
  COUNTRIES_FORM,
  type CountriesDescription,
  type DecodedCity,
  ID_BYTES,
  readId,
} from '../format/city.ts'
import { partition4, pickPartitions, prefixed, type SegmentVisitor, visitSegments } from '../format/partitions.ts'
import { createByOffset } from '../mmdb/by-offset.ts'
import { corrupt, type MmdbFile, parseMmdb } from '../mmdb/file.ts'
import { readGeoRecord } from '../mmdb/geo-record.ts'
import { createRecordReader } from '../mmdb/values.ts'
import { type RecordNumber, walkNetworks } from '../mmdb/walk.ts'
import { FAMILIES } from '../ranges/ranges.ts'
import { createSegmentWriter } from '../ranges/segments.ts'
import { sourceStatus } from '../sources/resolve.ts'
import { computeSha256, findFileDate } from '../sources/source-file.ts'
import { type CitySource, cityPath, countriesPath } from './city-path.ts'
import { createRecordWriter, type RecordWriter } from './city-records.ts'
import { removeOlder } from './compiled-path.ts'
import type { CompiledTables, CompileOptions } from './tables.ts'

export interface CompileCityOptions extends Omit<CompileOptions, 'sources'> {
  readonly source: CitySource
}

export interface CompiledCity extends Pick<CompiledTables, 'path' | 'shared'> {
  readonly source: SourceStatus
}

/**
 * Compiles a city database, in the flat DB-IP layout or MaxMind's nested one, into two files in `dataDir`, of places and
 * of countries, and removes older ones of the same source but the latest. Rejects with `corrupt_data` naming the database.
 */
export async function compileCity({ dataDir, source, onProgress }: CompileCityOptions): Promise<CompiledCity> {
  const { title } = source.row
  const { size } = source.file
  const { columns, description } = readCity(source, (share) => onProgress?.(title, share * size, size))
  const shared = encodeColumns(CITY_FORM, description, columns)
  makeFolder(dataDir)
  const { zones: _, ...ofCountries } = description
  const { columns: encoded }: DecodedCity = readColumns(CITY_FORM, shared)
  const small = encodeColumns(COUNTRIES_FORM, ofCountries satisfies CountriesDescription, pickCountries(encoded))
  const path = cityPath(dataDir, source)
  for (const [kind, file, bytes] of [
    ['city', path, shared],
    ['countries', countriesPath(dataDir, source), small],
  ] as const) {
    await replaceFile(file, new Uint8Array(bytes))
    removeOlder(file, new RegExp(`^${kind}-${source.row.id}-[0-9a-f]{16}\\.bin$`))
  }
  return { path, source: description.source, shared }
}

/** Picks the countries from a city file's columns. Neighbouring segments of one country become one segment. */
function pickCountries(city: CityColumns) {
  const countries = city['records.countries']
  const partitions = pickPartitions(city, 'four', 'six')
  const push = (ids: Uint8Array, to: SegmentVisitor): SegmentVisitor => {
    return (a, b, c, d, segment) => to(a, b, c, d, countries[readId(ids, segment)] as number)
  }
  const segments = createSegmentColumns(FAMILIES, 1024)
  visitSegments(partitions, 4, push(city['four.ids'], segments[4].push))
  visitSegments(partitions, 6, push(city['six.ids'], segments[6].push))
  return segments.finish((values) => ({ countries: values }))
}

/**
 * Reads a city database whole into the columns of a city file. `built`: when it was made, where it says so, in
 * milliseconds since the epoch. Throws `corrupt_data` naming the database.
 */
export function readCity(source: CitySource, onShare: (share: number) => void) {
  const { row, file } = source
  const { families, networks, segments, records, built, sha256 } = walkDatabase(source, onShare)
  const { columns, countries, zones } = records.finish()
  if (countries.length === 0) throw corrupt(file.path, 'no record has a country')
  const date = findFileDate(file, built)
  const description: CityDescription = {
    source: sourceStatus(row, 'loaded', { date, entries: networks, sha256 }),
    families,
    countries,
    zones,
  }
  onShare(1)
  const ids = segments.finish((values) => ({ ids: writeIds(values) }))
  return { columns: { ...ids, ...columns }, description, networks, built }
}

function walkDatabase({ row, file }: CitySource, onShare: (share: number) => void) {
  onShare(0)
  const bytes = readFileSync(file.path)
  const database = parseMmdb(bytes, file.path)
  const records = createRecordWriter()
  const numberRecord = recordNumbers(database, records)
  const wanted = FAMILIES.filter(
    (family) => (row.family ?? family) === family && (family === 4 || database.ipVersion === 6),
  )
  const segments = createSegmentColumns(wanted, database.nodeCount)
  const counts = wanted.map((family, index) => {
    const onWalk = (share: number) => onShare((index + share) / wanted.length)
    return walkNetworks(database, family, numberRecord, segments[family].push, onWalk)
  })
  // Attestations name the data behind a country by this hash.
  const sha256 = computeSha256(bytes)
  return {
    families: wanted.filter((_, index) => counts[index] !== 0),
    networks: counts.reduce((sum, count) => sum + count, 0),
    segments,
    records,
    built: database.built,
    sha256,
  }
}

/** Numbers records by their offsets. Millions of networks share some hundred thousand records: each is read once. */
function recordNumbers(file: MmdbFile, writer: RecordWriter): RecordNumber {
  const { dataStart, dataEnd, path } = file
  const read = createRecordReader(file)
  const numbers = createByOffset<number>(dataStart, dataEnd)
  return (at) => {
    const known = numbers.get(at)
    if (known !== undefined) return known
    if (at < dataStart || at >= dataEnd) throw corrupt(path, 'a record lies outside the data section')
    const number = readNumber(read(at))
    numbers.set(at, number)
    return number
  }

  function readNumber(value: unknown): number {
    try {
      return writer.add(readGeoRecord(value))
    } catch (error) {
      throw corrupt(path, error instanceof Error ? error.message : 'unreadable')
    }
  }
}

/** Creates the columns of both families' segments. A family that is not written is one segment without a record. */
function createSegmentColumns(families: readonly (4 | 6)[], nodeCount: number) {
  // A tree has one leaf more than nodes; what is not written takes no memory.
  const capacity = (family: 4 | 6) => (families.includes(family) ? nodeCount + 1 : 1)
  const four = createSegmentWriter(4, capacity(4))
  const six = createPartition6Writer(capacity(6))
  if (!families.includes(4)) four.push(0, 0, 0, 0, 0)
  if (!families.includes(6)) six.push(0, 0, 0, 0, 0)
  return {
    4: four,
    6: six,
    /** Returns the columns; `write` makes those of the segments' values. */
    finish<Columns extends object>(write: (values: Uint32Array) => Columns) {
      const [ipv4, ipv6] = [partition4(four.finish()), six.finish()]
      return {
        ...prefixed('four', { ...ipv4.partition, ...write(ipv4.values) }),
        ...prefixed('six', { ...ipv6.partition, ...write(ipv6.values) }),
      }
    },
  }
}

function writeIds(values: Uint32Array): Uint8Array {
  const ids = new Uint8Array(values.length * ID_BYTES)
  let at = 0
  for (const id of values) {
    ids[at++] = id
    ids[at++] = id >>> 8
    ids[at++] = id >>> 16
  }
  return ids
}
