import { mkdirSync, readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { type NetworkClass, SallyportError, type SourceStatus } from '@sallyport/core'
import { walkCountries } from '../mmdb/countries.ts'
import { corrupt, parseMmdb } from '../mmdb/file.ts'
import { csvFile } from '../parse/csv.ts'
import { readList } from '../parse/list.ts'
import type { Ranges } from '../parse/ranges.ts'
import { dateOfFile, dayOf, type ResolvedSource, type SourceFile, sourceStatus } from '../sources/resolve.ts'
import { encodeTables, writeWhole } from '../tables/write.ts'
import { assemble, type PerFamily, type ReadList } from './assembly.ts'
import { createCountryRegister, readCountryRanges } from './countries.ts'
import { removeOlderTables, tablesPath } from './place.ts'
import type { Segments } from './segments.ts'
import { readSystemRanges, type SystemRanges } from './systems.ts'

export interface CompileOptions {
  /** Made when it is not there. */
  readonly dataDir: string
  readonly sources: readonly ResolvedSource[]
  /** `done` and `total` are bytes of source files; `stage` is the title of what is being read or done. */
  readonly onProgress?: (stage: string, done: number, total: number) => void
}

export interface CompiledTables {
  readonly path: string
  readonly sources: readonly SourceStatus[]
}

/** What reading one source gave. */
interface Reading {
  readonly entries: number
  /** When the data was made, where the file says it, in milliseconds since the epoch. */
  readonly built?: number
}

/**
 * Compiles all sources into one file in `dataDir`, whose name says what it was made from, and removes older ones but
 * the latest. A source that is missing or unusable is told in its status and leaves the others as they are. Rejects
 * only when the file cannot be written.
 */
export async function compileTables({ dataDir, sources, onProgress }: CompileOptions): Promise<CompiledTables> {
  const path = tablesPath(dataDir, sources)
  const total = sources.reduce((sum, { file }) => sum + (file?.size ?? 0), 0)
  const reader = createSourceReader()
  const statuses: SourceStatus[] = []
  let done = 0
  for (const source of sources) {
    const { row, file } = source
    if (file !== undefined) onProgress?.(row.title, done, total)
    // Reading is synchronous: between two sources a signal, or a request, gets its turn.
    await turn()
    statuses.push(
      readSource(source, reader, (share) => onProgress?.(row.title, done + share * (file?.size ?? 0), total)),
    )
    done += file?.size ?? 0
  }
  onProgress?.('Putting the tables together', done, total)
  await turn()
  const { columns, description } = assemble(reader.parts)
  mkdirSync(dataDir, { recursive: true })
  writeWhole(path, encodeTables({ ...description, sources: statuses }, columns))
  removeOlderTables(path)
  return { path, sources: statuses }
}

function readSource(
  { row, file, reason }: ResolvedSource,
  reader: ReturnType<typeof createSourceReader>,
  onRead: (share: number) => void,
): SourceStatus {
  if (file === undefined) return sourceStatus(row, 'absent', reason === undefined ? {} : { reason })
  try {
    const { entries, built } = reader.read(row, file, onRead)
    return sourceStatus(row, 'loaded', { date: built === undefined ? dateOfFile(file) : dayOf(built), entries })
  } catch (error) {
    return sourceStatus(row, 'refused', { date: dateOfFile(file), reason: reasonOf(error) })
  }
}

/** What makes a source unusable: its form, or the disk. Anything else is a bug and goes on up. */
function reasonOf(error: unknown): string {
  const isFault = error instanceof SallyportError || (error instanceof Error && 'syscall' in error)
  if (!isFault) throw error
  return error.message
}

/** Reads source after source, keeping of each either all or nothing. */
function createSourceReader() {
  const countries = createCountryRegister()
  const systems: PerFamily<SystemRanges> = {}
  const registrations: PerFamily<Ranges> = {}
  const cities: PerFamily<Segments> = {}
  const lists: ReadList[] = []

  function read(row: ResolvedSource['row'], file: SourceFile, onRead: (share: number) => void): Reading {
    const bytes = readFileSync(file.path)
    const family = row.family ?? 4
    const onBytes = (count: number) => onRead(count / bytes.length)
    switch (row.kind) {
      case 'asn': {
        const found = readSystemRanges(csvFile(file.path, bytes), family, onBytes)
        systems[family] = found
        return { entries: found.ranges.count }
      }
      case 'asn-country': {
        const found = readCountryRanges(csvFile(file.path, bytes), family, countries, onBytes)
        registrations[family] = found
        return { entries: found.count }
      }
      case 'city':
        return readCity(bytes, file, row.family, onRead)
      case 'ranges':
      case 'addresses':
        return readRangeList(bytes, row, file)
    }
  }

  function readCity(bytes: Buffer, { path }: SourceFile, only: 4 | 6 | undefined, onRead: (share: number) => void) {
    const file = parseMmdb(bytes, path)
    const families = ([4, 6] as const).filter(
      (family) => (only ?? family) === family && (family === 4 || file.ipVersion === 6),
    )
    const walked = families.map((family, index) => {
      const onWalk = (share: number) => onRead((index + share) / families.length)
      return { family, ...walkCountries(file, family, countries.number, onWalk) }
    })
    const placed = walked.filter(({ segments }) => segments.values.some((country) => country !== 0))
    if (placed.length === 0) throw corrupt(path, 'no record of it has a country')
    for (const { family, segments } of placed) cities[family] = segments
    const entries = walked.reduce((sum, { networks }) => sum + networks, 0)
    return { entries, ...(file.built === undefined ? {} : { built: file.built }) }
  }

  function readRangeList(bytes: Buffer, row: ResolvedSource['row'], file: SourceFile): Reading {
    const { id, provider = '' } = row
    const networkClass: NetworkClass = row.networkClass ?? 'unknown'
    const single = row.kind === 'addresses'
    const form = { path: file.path, networkClass, single, ...(row.family === undefined ? {} : { family: row.family }) }
    const ranges = readList(bytes.toString('utf8'), form)
    lists.push({ networkClass, single, provider, source: id, ranges })
    return { entries: ranges[4].count + ranges[6].count }
  }

  return { read, parts: { systems, registrations, cities, lists, countries } }
}
