import { join } from 'node:path'
import { errorText, SallyportError } from '@sallyport/core'
import type { CompileCityOptions } from '../compile/city.ts'
import { type CitySource, cityPath, isCity } from '../compile/city-path.ts'
import { removeOlder, TABLES_NAME, tablesPath } from '../compile/compiled-path.ts'
import { compileCityInWorker, compileInWorker, type WorkerOptions } from '../compile/in-worker.ts'
import type { OnProgress } from '../compile/tables.ts'
import { type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import { shippedFolder, unpackTables } from '../sources/shipped.ts'
import { dateOfFile } from '../sources/source-file.ts'
import type { OpenedCity } from '../tables/cities.ts'
import { type LoadedTables, loadTables } from '../tables/load.ts'
import { type CityFile, openCityFile } from './city-file.ts'
import type { DataLock } from './data-lock.ts'

export interface SnapshotOptions {
  /** `compile.lock` of the dataDir is taken where something must be compiled. */
  readonly lock: DataLock
  /** Called while data is compiled, with the source being read, bytes done and bytes in all. */
  readonly onProgress?: OnProgress | undefined
  /** Called when this process waits for another one that compiles the same data. */
  readonly onWait?: (() => void) | undefined
  /** Called when a compiled file cannot be used and is compiled again. The message names it. */
  readonly onRefused?: ((message: string) => void) | undefined
  /** Called when a lookup needs a place, and a city file could neither be read nor compiled again. The message names it. */
  readonly onLost?: ((message: string) => void) | undefined
  /** Aborts a compile, or the wait for another process's; rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Whether the dataDir may not be written: what is not compiled cannot be used. */
  readonly readOnly?: boolean | undefined
  /** City files that were opened before, by path. A path names what is in its file, so none is read twice; others are dropped. */
  readonly cityFiles?: Map<string, CityFile> | undefined
}

/** All compiled data of a set of sources, loaded. */
export interface Compiled {
  readonly tables: LoadedTables
  /** Sorted by preference, the best first. */
  readonly cities: readonly OpenedCity[]
}

/** The compiled files that could be loaded. */
interface CompiledFiles {
  readonly tables: LoadedTables | undefined
  readonly cities: ReadonlyMap<CitySource, CityFile>
}

/** Below this a source compiles in a few milliseconds, and starting a thread would take a hundred times as long. */
const SMALL_BYTES = 64 * 1024

/**
 * Loads the compiled files of these sources, and first compiles those that are missing or unreadable. One process of the dataDir compiles;
 * the others wait for it and load its result. The lock is taken only when something must be compiled.
 */
export async function loadCompiled(
  dataDir: string,
  sources: readonly ResolvedSource[],
  options: SnapshotOptions,
): Promise<Compiled> {
  const { lock, onWait, onRefused, signal, cityFiles = new Map<string, CityFile>() } = options
  const databases = sources.filter(isCity)
  const paths = new Set(databases.map((source) => cityPath(dataDir, source)))
  for (const path of cityFiles.keys()) if (!paths.has(path)) cityFiles.delete(path)
  const compileCity = (source: CitySource): CityFile => {
    const path = cityPath(dataDir, source)
    const file = cityFiles.get(path) ?? openCityFile({ dataDir, source }, options)
    cityFiles.set(path, file)
    return file
  }
  const find = (onRefused?: (message: string) => void): CompiledFiles => {
    const cities = databases.map((source) => {
      const file = tryLoad(() => compileCity(source), onRefused)
      return file === undefined ? [] : [[source, file] as const]
    })
    return {
      tables: tryLoad(() => loadTables(tablesPath(dataDir, sources)), onRefused),
      cities: new Map(cities.flat()),
    }
  }
  const { tables, cities } = find(onRefused)
  if (tables !== undefined && cities.size === databases.length) {
    return { tables, cities: databases.map((source) => compiledCity(source, cities.get(source) as CityFile)) }
  }
  if (options.readOnly) {
    const what = `the data in ${dataDir} is not compiled by this version. Run sallyport data compile where dataDir is writable`
    throw new SallyportError('missing_data', what)
  }
  const compile = () => compileMissing({ dataDir, sources, databases, found: find(), cityOf: compileCity }, options)
  return lock.withLock(join(dataDir, 'compile.lock'), compile, { onWait, signal })
}

/** `undefined` where the file is missing or cannot be used: it must be compiled. */
function tryLoad<Loaded>(load: () => Loaded, onRefused?: (message: string) => void): Loaded | undefined {
  try {
    return load()
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    if (error.code === 'corrupt_data') onRefused?.(error.message)
    return undefined
  }
}

interface Missing {
  readonly dataDir: string
  readonly sources: readonly ResolvedSource[]
  readonly databases: readonly CitySource[]
  readonly found: CompiledFiles
  /** Opens a compiled city file. */
  readonly cityOf: (source: CitySource) => CityFile
}

/** Compiles one file after the other: two at a time would be a third quicker, and take half as much memory again. */
async function compileMissing(
  { dataDir, sources, databases, found, cityOf }: Missing,
  options: SnapshotOptions,
): Promise<Compiled> {
  const { onProgress, signal } = options
  const missing = databases.filter((source) => !found.cities.has(source))
  const size = found.tables === undefined ? sumSizes(sources.filter((source) => !isCity(source))) : 0
  const total = size + sumSizes(missing)
  let before = 0
  const job = (size: number) => {
    const start = before
    before += size
    const onOwn: OnProgress = (stage, done) => onProgress?.(stage, start + done, total)
    return { onProgress: onOwn, signal }
  }
  const tables =
    found.tables ??
    (await unpackShipped(tablesPath(dataDir, sources), options)) ??
    (await compiledTables(dataDir, sources, size, job(size)))
  const instead = new Map<CitySource, OpenedCity>()
  for (const source of missing) {
    const refused = await compileOrRefuse({ dataDir, source, ...job(source.file.size) })
    if (refused !== undefined) instead.set(source, refused)
  }
  // A compile in this thread cannot be interrupted, so the signal is looked at after it.
  signal?.throwIfAborted()
  // Opened when all are compiled, so that no compile has to share the memory with them.
  return { tables, cities: databases.map((source) => instead.get(source) ?? compiledCity(source, cityOf(source))) }
}

/** Unpacks tables that came with this version, if they were made of the same sources. */
async function unpackShipped(path: string, { onRefused }: SnapshotOptions): Promise<LoadedTables | undefined> {
  if (!(await unpackTables(path, shippedFolder()))) return undefined
  removeOlder(path, TABLES_NAME)
  return tryLoad(() => loadTables(path), onRefused)
}

async function compiledTables(
  dataDir: string,
  sources: readonly ResolvedSource[],
  size: number,
  job: Pick<SnapshotOptions, 'onProgress' | 'signal'>,
): Promise<LoadedTables> {
  const compile = size < SMALL_BYTES ? (await import('../compile/tables.ts')).compileTables : compileInWorker
  const { shared } = await compile({ dataDir, sources, ...job })
  return loadTables(shared)
}

function sumSizes(sources: readonly ResolvedSource[]): number {
  return sources.reduce((sum, { file }) => sum + (file?.size ?? 0), 0)
}

function compiledCity({ row }: CitySource, cities: CityFile): OpenedCity {
  return { status: cities.source, family: row.family, cities }
}

/** Compiles a city database. Returns its refusal when its form or the disk prevents that. */
async function compileOrRefuse(options: CompileCityOptions & WorkerOptions): Promise<OpenedCity | undefined> {
  const { source, signal } = options
  const { row, file } = source
  try {
    const isSmall = file.size < SMALL_BYTES
    const compile = isSmall ? (await import('../compile/city.ts')).compileCity : compileCityInWorker
    await compile(options)
    return undefined
  } catch (error) {
    signal?.throwIfAborted()
    const status = sourceStatus(row, 'refused', { date: dateOfFile(file), reason: errorText(error) })
    return { status, family: row.family }
  }
}
