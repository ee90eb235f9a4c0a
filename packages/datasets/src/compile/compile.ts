import { mkdirSync, readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { SallyportError, type SourceStatus } from '@sallyport/core/tables'
import type { SourceRow, SystemListFormat } from '@sallyport/data/sources'
import { encodeColumns, writeWhole } from '../columns/write.ts'
import { countBootstrap } from '../parse/bootstrap.ts'
import type { CsvFile } from '../parse/csv.ts'
import { listForm, readList } from '../parse/list.ts'
import type { Ranges } from '../parse/ranges.ts'
import { readSystemList } from '../parse/system-list.ts'
import { splitSystems } from '../parse/tsv-asn.ts'
import type { SourceFile } from '../sources/file.ts'
import { dateOfFile, dayNumber, dayOf, digestOf, type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import { type Description, TABLES_FORM } from '../tables/format.ts'
import { assemble } from './assembly.ts'
import { createCountryRegister, readCountryRanges } from './countries.ts'
import type { CrawlerList } from './crawlers.ts'
import { removeOlder, TABLES_NAME, tablesPath } from './place.ts'
import type { PerFamily, ReadList, ReadSystemList } from './read-list.ts'
import { readSystemRanges, type SystemRanges } from './systems.ts'

/** `done` and `total` are bytes of source files; `stage` is the title of what is being read or done. */
export type OnProgress = (stage: string, done: number, total: number) => void

/** What to compile, as plain values that another thread can be told. */
export interface TablesJob {
  /** Made when it is not there. */
  readonly dataDir: string
  readonly sources: readonly ResolvedSource[]
}

export interface CompileOptions extends TablesJob {
  readonly onProgress?: OnProgress
}

export interface CompiledTables {
  readonly path: string
  readonly sources: readonly SourceStatus[]
  /** The bytes of the file, for `loadTables`, so that it need not be read again. */
  readonly shared: SharedArrayBuffer
}

/** Of a list whose row states none. */
const UNSTATED_TRUST = 0.5

/** What reading one source gave. */
interface Reading {
  readonly entries: number
  /** When the data was made, where the file says it, in milliseconds since the epoch. */
  readonly built?: number
}

/**
 * Compiles all sources but the city databases into one file in `dataDir`, whose name says what it was made from, and
 * removes older ones but the latest. A source that is missing or unusable is told in its status and leaves the others
 * as they are. Rejects only when the file cannot be written.
 */
export async function compileTables({ dataDir, sources: all, onProgress }: CompileOptions): Promise<CompiledTables> {
  const path = tablesPath(dataDir, all)
  const sources = all.filter(({ row }) => row.kind !== 'city')
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
  const shared = encodeColumns(TABLES_FORM, { ...description, sources: statuses } satisfies Description, columns)
  writeWhole(path, new Uint8Array(shared))
  removeOlder(path, TABLES_NAME)
  return { path, sources: statuses, shared }
}

function readSource(
  { row, file, reason }: ResolvedSource,
  reader: ReturnType<typeof createSourceReader>,
  onRead: (share: number) => void,
): SourceStatus {
  if (file === undefined) return sourceStatus(row, 'absent', reason === undefined ? {} : { reason })
  try {
    const bytes = readFileSync(file.path)
    const { entries, built } = reader.read(row, file, bytes, onRead)
    const date = built === undefined ? dateOfFile(file) : dayOf(built)
    return sourceStatus(row, 'loaded', { date, entries, sha256: digestOf(bytes) })
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
  const crawlers: CrawlerList[] = []
  const lists: ReadList[] = []
  const systemLists: ReadSystemList[] = []

  function read(row: SourceRow, file: SourceFile, bytes: Buffer, onRead: (share: number) => void): Reading {
    const family = row.family ?? 4
    const onBytes = (count: number) => onRead(count / bytes.length)
    switch (row.kind) {
      case 'asn': {
        if (row.format === 'tsv-asn') return readBothFamilies({ path: file.path, bytes })
        const found = readSystemRanges({ path: file.path, bytes }, family, onBytes)
        systems[family] = found
        return { entries: found.ranges.count }
      }
      case 'asn-country': {
        const found = readCountryRanges({ path: file.path, bytes }, family, countries, onBytes)
        registrations[family] = found
        return { entries: found.count }
      }
      case 'ranges':
      case 'addresses':
      case 'crawler':
      case 'abuse':
        return readRangeList(bytes, row, file)
      case 'asn-list': {
        const systemList = readSystemList(bytes, row.format as SystemListFormat, file.path)
        systemLists.push({ source: row.id, ...(row.asType === undefined ? {} : { asType: row.asType }), systemList })
        return { entries: systemList.size }
      }
      // Places and registration servers are no part of the tables: they are only looked through.
      case 'geofeed': {
        const { ranges } = readList(bytes, listForm(row, file.path))
        return { entries: ranges[4].count + ranges[6].count }
      }
      case 'rdap':
        return { entries: countBootstrap(bytes.toString('utf8'), file.path) }
      case 'city':
        throw new TypeError('a city database is compiled by itself')
    }
  }

  function readBothFamilies(file: CsvFile): Reading {
    const files = splitSystems(file)
    const [four, six] = [readSystemRanges(files[4], 4), readSystemRanges(files[6], 6)]
    systems[4] = four
    systems[6] = six
    return { entries: four.ranges.count + six.ranges.count }
  }

  function readRangeList(bytes: Buffer, row: SourceRow, file: SourceFile): Reading {
    const { id, kind, provider = '', trust = UNSTATED_TRUST, lifeDays } = row
    const { ranges, made } = readList(bytes, listForm(row, file.path))
    const date = made === undefined ? dateOfFile(file) : dayOf(made)
    // What was reported for abuse says nothing of a class.
    if (row.networkClass !== undefined) {
      lists.push({
        networkClass: row.networkClass,
        single: kind === 'addresses',
        provider,
        source: id,
        kind,
        rule: 'list',
        trust,
        date,
        ranges,
        ...(lifeDays === undefined ? {} : { expires: dayNumber(Date.parse(date)) + lifeDays }),
      })
    }
    if (kind === 'crawler' && row.crawler !== undefined) crawlers.push({ slug: row.crawler, ranges })
    return { entries: ranges[4].count + ranges[6].count, ...(made === undefined ? {} : { built: made }) }
  }

  return { read, parts: { systems, registrations, lists, systemLists, crawlers, countries } }
}
