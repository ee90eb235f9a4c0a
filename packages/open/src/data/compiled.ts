import { join } from 'node:path'
import { SallyportError, type SourceStatus } from '@sallyport/core'
import {
  type CitySource,
  type CityTable,
  type CompileCityOptions,
  type Confirmed,
  cityPath,
  compileCity,
  compileCityInWorker,
  compileInWorker,
  compileTables,
  dateOfFile,
  isCity,
  type LoadedTables,
  loadCity,
  loadTables,
  type OnProgress,
  type OpenedCity,
  openDatabase,
  type ResolvedSource,
  sourceStatus,
  tablesPath,
  type WorkerOptions,
} from '@sallyport/datasets'
import { withLock } from '@sallyport/stores'

export interface CompileHooks {
  /** While data is compiled: the source being read, bytes done and bytes in all. */
  readonly onProgress?: OnProgress
  /** This process waits for another one that compiles the same data. */
  readonly onWait?: () => void
  /** A compiled file cannot be used and is compiled again. The message names it. */
  readonly onRefused?: (message: string) => void
  /** Aborts a compile, or the wait for another process's; rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** As in `LoadOptions`. */
  readonly confirmed?: Confirmed
}

/** All compiled data of a set of sources, loaded. */
export interface Compiled {
  readonly tables: LoadedTables
  /** In order of preference. */
  readonly cities: readonly OpenedCity[]
}

/** The compiled files that could be loaded. */
interface Found {
  readonly tables: LoadedTables | undefined
  readonly cities: ReadonlyMap<CitySource, CityTable>
}

/** Below this a source compiles in a few milliseconds, and starting a thread would take a hundred times as long. */
const SMALL_BYTES = 64 * 1024

/** Each concurrent compile takes a processor and some 300 MB. */
const MAX_CONCURRENT = 2

/**
 * The compiled files of these sources, compiled first where they are missing or unreadable. One process of the dataDir
 * compiles; the others wait for it and load its result. The lock is taken only where something must be compiled.
 */
export async function loadCompiled(
  dataDir: string,
  sources: readonly ResolvedSource[],
  hooks: CompileHooks,
): Promise<Compiled> {
  const { onWait, onRefused, signal, confirmed } = hooks
  const loadOptions = confirmed === undefined ? {} : { confirmed }
  const databases = sources.filter(isCity)
  const find = (onRefused?: (message: string) => void): Found => {
    const cities = databases.map((source) => {
      const table = tryLoad(() => loadCity(cityPath(dataDir, source)), onRefused)
      return table === undefined ? [] : [[source, table] as const]
    })
    return {
      tables: tryLoad(() => loadTables(tablesPath(dataDir, sources), loadOptions), onRefused),
      cities: new Map(cities.flat()),
    }
  }
  const { tables, cities } = find(onRefused)
  if (tables !== undefined && cities.size === databases.length) {
    return { tables, cities: databases.map((source) => compiledCity(source, cities.get(source) as CityTable)) }
  }
  const compile = () => compileMissing(dataDir, sources, databases, find(), hooks)
  return withLock(join(dataDir, 'compile.lock'), compile, {
    ...(onWait === undefined ? {} : { onWait }),
    ...(signal === undefined ? {} : { signal }),
  })
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

async function compileMissing(
  dataDir: string,
  sources: readonly ResolvedSource[],
  databases: readonly CitySource[],
  found: Found,
  { onProgress, signal, confirmed }: CompileHooks,
): Promise<Compiled> {
  let { tables } = found
  const cities = new Map<CitySource, OpenedCity>()
  const missing = databases.filter((source) => !found.cities.has(source))
  const progress = createProgressSum(onProgress)
  const cancel = signal === undefined ? {} : { signal }
  // The city databases first: they take the longest.
  const jobs = missing.map((source) => {
    const onOwn = progress(source.file.size)
    return async () => void cities.set(source, await compileOrOpen({ dataDir, source, onProgress: onOwn, ...cancel }))
  })
  if (tables === undefined) {
    const sizes = sources.map((source) => (isCity(source) ? 0 : (source.file?.size ?? 0)))
    const size = sizes.reduce((sum, size) => sum + size, 0)
    const onOwn = progress(size)
    const compile = size < SMALL_BYTES ? compileTables : compileInWorker
    jobs.push(async () => {
      const { shared } = await compile({ dataDir, sources, onProgress: onOwn, ...cancel })
      tables = loadTables(shared, confirmed === undefined ? {} : { confirmed })
    })
  }
  const queue = jobs.values()
  const worker = async () => {
    for (const job of queue) await job()
  }
  // Waits for all, also where one failed: the lock is held while anything is written.
  const ended = await Promise.allSettled(Array.from({ length: MAX_CONCURRENT }, worker))
  const failed = ended.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  // A compile in this thread cannot be interrupted, so the signal is looked at after it.
  signal?.throwIfAborted()
  return {
    tables: tables as LoadedTables,
    cities: databases.map((source) => {
      const table = found.cities.get(source)
      return table === undefined ? (cities.get(source) as OpenedCity) : compiledCity(source, table)
    }),
  }
}

function compiledCity({ row }: CitySource, table: CityTable): OpenedCity {
  return openedCity(row, table.source, table)
}

function openedCity(row: CitySource['row'], status: SourceStatus, cities?: OpenedCity['cities']): OpenedCity {
  return {
    status,
    ...(row.family === undefined ? {} : { family: row.family }),
    ...(cities === undefined ? {} : { cities }),
  }
}

/**
 * A city database, compiled and loaded. A corrupt one is refused; one that could not be compiled for another reason,
 * such as a full disk, is read uncompiled.
 */
async function compileOrOpen(options: CompileCityOptions & WorkerOptions): Promise<OpenedCity> {
  const { source, signal } = options
  const { row, file } = source
  try {
    const compile = file.size < SMALL_BYTES ? compileCity : compileCityInWorker
    const { shared } = await compile(options)
    return compiledCity(source, loadCity(shared))
  } catch (error) {
    if (error instanceof SallyportError) {
      return openedCity(row, sourceStatus(row, 'refused', { date: dateOfFile(file), reason: error.message }))
    }
    signal?.throwIfAborted()
  }
  try {
    const cities = await openDatabase(file.path)
    return openedCity(row, sourceStatus(row, 'loaded', { date: dateOfFile(file) }), cities)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return openedCity(row, sourceStatus(row, 'refused', { date: dateOfFile(file), reason: error.message }))
  }
}

/** Adds up the progress of concurrent compiles. */
function createProgressSum(onProgress: OnProgress | undefined): (total: number) => OnProgress {
  const all: { done: number; readonly total: number }[] = []
  const sum = (member: 'done' | 'total') => all.reduce((sum, part) => sum + part[member], 0)
  return (total) => {
    const part = { done: 0, total }
    all.push(part)
    return (stage, done) => {
      part.done = done
      onProgress?.(stage, sum('done'), sum('total'))
    }
  }
}
