import { join } from 'node:path'
import { errorText, SallyportError } from '@sallyport/core'
import type { CompileCityOptions } from '../compile/city.ts'
import { type CitySource, cityPath, isCity } from '../compile/city-path.ts'
import { removeOlder, TABLES_NAME, tablesPath } from '../compile/compiled-path.ts'
import { compileCityInWorker, compileInWorker, type WorkerOptions } from '../compile/in-worker.ts'
import type { CompileOptions, OnProgress } from '../compile/tables.ts'
import { type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import { shippedFolder, unpackTables } from '../sources/shipped.ts'
import { findFileDate } from '../sources/source-file.ts'
import type { OpenedCity } from '../tables/cities.ts'
import { type LoadedTables, loadTables } from '../tables/load.ts'
import { type CityFile, type CityFileOptions, openCityFile } from './city-file.ts'

export interface SnapshotOptions extends CityFileOptions {
  /** Called while data is compiled, with the source being read, bytes done and bytes in all. */
  readonly onProgress?: OnProgress | undefined
  /** Called when this process waits for another one that compiles the same data. */
  readonly onWait?: (() => void) | undefined
  /** City files that were opened before, by path. A path names what is in its file, so none is read twice; others are dropped. */
  readonly cityFiles?: Map<string, CityFile> | undefined
}

/** All compiled data of a set of sources, loaded. */
export interface Compiled {
  readonly tables: LoadedTables
  /** Sorted by preference, the best first. */
  readonly cities: readonly OpenedCity[]
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
  const { lock, onProgress, onWait, signal, cityFiles = new Map<string, CityFile>() } = options
  const databases = sources.filter(isCity)
  const paths = new Set(databases.map((source) => cityPath(dataDir, source)))
  for (const path of cityFiles.keys()) if (!paths.has(path)) cityFiles.delete(path)
  const openCity = (source: CitySource): OpenedCity => {
    const path = cityPath(dataDir, source)
    const cities = cityFiles.get(path) ?? openCityFile(dataDir, source, options)
    cityFiles.set(path, cities)
    return { status: cities.source, family: source.row.family, cities }
  }
  const find = (onRefused?: (message: string) => void) => ({
    tables: tryLoad(() => loadTables(tablesPath(dataDir, sources)), onRefused),
    cities: databases.map((source) => tryLoad(() => openCity(source), onRefused)),
  })

  /** Compiles one file after the other: two at a time would be a third quicker, and take half as much memory again. */
  async function compileMissing(): Promise<Compiled> {
    const found = find()
    const missing = databases.filter((_, at) => found.cities[at] === undefined)
    const size = found.tables === undefined ? sumSizes(sources.filter((source) => !isCity(source))) : 0
    const total = size + sumSizes(missing)
    let before = 0
    const job = (size: number) => {
      const start = before
      before += size
      const onOwn: OnProgress = (stage, done) => onProgress?.(stage, start + done, total)
      return { dataDir, onProgress: onOwn, signal }
    }
    const unpacked = found.tables ?? (await unpackShipped(tablesPath(dataDir, sources), options))
    const tables = unpacked ?? (await compileTables(size, { sources, ...job(size) }))
    const refused = new Map<CitySource, OpenedCity | undefined>()
    for (const source of missing) {
      refused.set(source, await compileOrRefuse({ source, ...job(source.file.size) }))
    }
    // A compile in this thread cannot be interrupted, so the signal is looked at after it.
    signal?.throwIfAborted()
    // Opened when all are compiled, so that no compile has to share the memory with them.
    const cities = databases.map((source, at) => found.cities[at] ?? refused.get(source) ?? openCity(source))
    return { tables, cities }
  }

  const { tables, cities } = find(options.onRefused)
  const opened = cities.filter((city) => city !== undefined)
  if (tables !== undefined && opened.length === databases.length) return { tables, cities: opened }
  if (options.readOnly) {
    const what = `the data in ${dataDir} is not compiled by this version. Run sallyport data compile where dataDir is writable`
    throw new SallyportError('missing_data', what)
  }
  return lock.withLock(join(dataDir, 'compile.lock'), compileMissing, { onWait, signal })
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

/** Unpacks tables that came with this version, if they were made of the same sources. */
async function unpackShipped(path: string, { onRefused }: SnapshotOptions): Promise<LoadedTables | undefined> {
  if (!(await unpackTables(path, shippedFolder()))) return undefined
  removeOlder(path, TABLES_NAME)
  return tryLoad(() => loadTables(path), onRefused)
}

async function compileTables(size: number, options: CompileOptions & WorkerOptions): Promise<LoadedTables> {
  const compile = size < SMALL_BYTES ? (await import('../compile/tables.ts')).compileTables : compileInWorker
  return loadTables((await compile(options)).shared)
}

function sumSizes(sources: readonly ResolvedSource[]): number {
  return sources.reduce((sum, { file }) => sum + (file?.size ?? 0), 0)
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
    const status = sourceStatus(row, 'refused', { date: findFileDate(file), reason: errorText(error) })
    return { status, family: row.family }
  }
}
