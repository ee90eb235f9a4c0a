import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildPartition4,
  createGrowingColumn,
  createPartition6Writer,
  formatAddress,
  type SourceStatus,
} from '@sallyport/core/tables'
import { encodeColumns, writeWhole } from '../columns/write.ts'
import type { OnProgress } from '../compile/compile.ts'
import { removeOlder } from '../compile/place.ts'
import { createRecordFields } from '../mmdb/fields.ts'
import { corrupt, type MmdbFile, parseMmdb } from '../mmdb/file.ts'
import { type NetworkSink, type RecordNumber, walkNetworks } from '../mmdb/walk.ts'
import type { SourceFile } from '../sources/file.ts'
import { dateOfFile, dayOf, digestOf, type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import { prefixed } from '../tables/partitions.ts'
import { CITY_FORM, CITY_FORMAT, type CityColumns, type CityDescription, ID_BYTES } from './format.ts'
import { geoRecordOf } from './record.ts'
import { createRecordWriter, type RecordColumns, type RecordWriter } from './records.ts'

/** A city source of which the file is there. */
export type CitySource = ResolvedSource & { readonly file: SourceFile }

/** What to compile, as plain values that another thread can be told. */
export interface CityJob {
  /** Made when it is not there. */
  readonly dataDir: string
  readonly source: CitySource
}

export interface CompileCityOptions extends CityJob {
  readonly onProgress?: OnProgress
}

export interface CompiledCity {
  readonly path: string
  readonly source: SourceStatus
  /** The bytes of the file, so that it need not be read again. */
  readonly shared: SharedArrayBuffer
}

/** Whether a source is a city database that is there. */
export function isCity(source: ResolvedSource): source is CitySource {
  return source.row.kind === 'city' && source.file !== undefined
}

/** Where the city file made from this source lies, whether it is there or not: the name changes with the source. */
export function cityPath(dataDir: string, { row, file }: CitySource): string {
  const made = { format: CITY_FORMAT, family: row.family, file }
  const key = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)
  return join(dataDir, `city-${row.id}-${key}.bin`)
}

/**
 * Compiles a city database, in the flat DB-IP layout or MaxMind's nested one, into one file in `dataDir`, and removes
 * older ones of the same source but the latest. Throws `corrupt_data` naming the database.
 */
export function compileCity({ dataDir, source, onProgress }: CompileCityOptions): CompiledCity {
  const { title } = source.row
  const { size } = source.file
  const { columns, description } = readCity(source, (share) => onProgress?.(title, share * size, size))
  const shared = encodeColumns(CITY_FORM, description, columns)
  mkdirSync(dataDir, { recursive: true })
  const path = cityPath(dataDir, source)
  writeWhole(path, new Uint8Array(shared))
  removeOlder(path, new RegExp(`^city-${source.row.id}-[0-9a-f]{16}\\.bin$`))
  return { path, source: description.source, shared }
}

/**
 * Reads a city database whole into the columns of a city file. `built`: when it was made, where it says so, in
 * milliseconds since the epoch. Throws `corrupt_data` naming the database.
 */
export function readCity(source: CitySource, onShare: (share: number) => void) {
  const { row, file } = source
  const { families, networks, segments, records, built, sha256 } = walkDatabase(source, onShare)
  const { columns, countries, zones } = records.finish()
  if (countries.length === 0) throw corrupt(file.path, 'no record of it has a country')
  const date = built === undefined ? dateOfFile(file) : dayOf(built)
  const description: CityDescription = {
    source: sourceStatus(row, 'loaded', { date, entries: networks, sha256 }),
    families,
    countries,
    zones,
  }
  onShare(1)
  return { columns: { ...segments.finish(), ...columns }, description, networks, built }
}

/** A function of its own, so that the database is out of memory before the columns are made. */
function walkDatabase({ row, file }: CitySource, onShare: (share: number) => void) {
  onShare(0)
  const bytes = readFileSync(file.path)
  const database = parseMmdb(bytes, file.path)
  const records = createRecordWriter()
  const numberRecord = recordNumbers(database, records)
  const wanted = ([4, 6] as const).filter(
    (family) => (row.family ?? family) === family && (family === 4 || database.ipVersion === 6),
  )
  const segments = createSegmentColumns(wanted, database.nodeCount)
  const counts = wanted.map((family, index) => {
    const onWalk = (share: number) => onShare((index + share) / wanted.length)
    return walkNetworks(database, family, numberRecord, segments[family], onWalk)
  })
  return {
    families: wanted.filter((_, index) => counts[index] !== 0),
    networks: counts.reduce((sum, count) => sum + count, 0),
    segments,
    records,
    built: database.built,
    // Attestations name the data that says the country by it.
    sha256: digestOf(bytes),
  }
}

/** Numbers records by where they stand; each is checked and then read once, by `maxmind`. */
function recordNumbers(file: MmdbFile, writer: RecordWriter): RecordNumber {
  const { dataStart, dataEnd, path, reader } = file
  const { check } = createRecordFields(file)
  // Millions of networks share some hundred thousand records.
  const numbers = new Uint32Array(dataEnd - dataStart)
  return (at, address) => {
    const known = numbers[at - dataStart]
    if (known === undefined) throw corrupt(path, 'a record outside the data section')
    if (known !== 0) return known
    check(at)
    const number = readRecord(formatAddress(address))
    numbers[at - dataStart] = number
    return number
  }

  function readRecord(text: string): number {
    try {
      return writer.add(geoRecordOf(reader.get(text)))
    } catch (error) {
      throw corrupt(path, `${text}: ${error instanceof Error ? error.message : 'unreadable'}`)
    }
  }
}

/** The columns of both families' segments while they are written. A family that is not is one segment without a record. */
function createSegmentColumns(families: readonly (4 | 6)[], nodeCount: number) {
  const capacity = (family: 4 | 6) => (families.includes(family) ? nodeCount >>> 1 : 0)
  const starts = createGrowingColumn(capacity(4))
  const values = createGrowingColumn(capacity(4))
  const six = createPartition6Writer(capacity(6))
  let last = -1
  const four: NetworkSink = {
    push(_a, _b, _c, d, value) {
      if (value === last) return
      starts.push(d)
      values.push(value)
      last = value
    },
  }
  if (!families.includes(4)) four.push(0, 0, 0, 0, 0)
  if (!families.includes(6)) six.push(0, 0, 0, 0, 0)
  return {
    4: four,
    6: six,
    finish(): Omit<CityColumns, keyof RecordColumns> {
      const { partition, values: values6 } = six.finish()
      return {
        ...prefixed('four', buildPartition4(starts.finish())),
        'four.ids': idsOf(values.finish()),
        ...prefixed('six', partition),
        'six.ids': idsOf(values6),
      }
    },
  }
}

/** Numbers of records, three bytes each. */
function idsOf(values: Uint32Array): Uint8Array {
  const ids = new Uint8Array(values.length * ID_BYTES)
  let at = 0
  for (const id of values) {
    ids[at++] = id
    ids[at++] = id >>> 8
    ids[at++] = id >>> 16
  }
  return ids
}
