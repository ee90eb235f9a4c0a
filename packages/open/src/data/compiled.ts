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
  /** While data is compiled: what is being read, and how many bytes of how many. */
  readonly onProgress?: OnProgress
  /** Another process compiles the same data, and this one waits for it. */
  readonly onWait?: () => void
  /** A compiled file is there and cannot be used; it is compiled anew. The message names it. */
  readonly onRefused?: (message: string) => void
  /** Ends a compile, or the waiting for another process's; what waits for it is then rejected with the signal's reason. */
  readonly signal?: AbortSignal
  /** What the tables ask of a list of single addresses, as in `LoadOptions`. */
  readonly confirmed?: Confirmed
}

/** All compiled data of a set of sources, loaded. */
export interface Compiled {
  readonly tables: LoadedTables
  /** In order of preference. */
  readonly cities: readonly OpenedCity[]
}

/** What is there compiled and could be loaded. */
interface Found {
  readonly tables: LoadedTables | undefined
  readonly cities: ReadonlyMap<CitySource, CityTable>
}

/** Sources that compile in a few milliseconds: to start a thread takes a hundred times as long. */
const SMALL_BYTES = 64 * 1024

/** Compiles at once: each takes a processor, and some 300 MB while it lasts. */
const LANES = 2

/**
 * The compiled files of these sources, compiled where this dataDir has none that can be read. One process compiles and
 * the others wait for it, then look again: the lock is taken only where there is something to do.
 */
export async function loadCompiled(
  dataDir: string,
  sources: readonly ResolvedSource[],
  hooks: CompileHooks,
): Promise<Compiled> {
  const { onWait, onRefused, signal, confirmed } = hooks
  const asked = confirmed === undefined ? {} : { confirmed }
  const databases = sources.filter(isCity)
  const find = (onRefused?: (message: string) => void): Found => {
    const cities = databases.map((source) => {
      const table = tryLoad(() => loadCity(cityPath(dataDir, source)), onRefused)
      return table === undefined ? [] : [[source, table] as const]
    })
    return {
      tables: tryLoad(() => loadTables(tablesPath(dataDir, sources), asked), onRefused),
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

/** `undefined` where the file is not there, or is there and cannot be used: both mean that it is to be compiled. */
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
  const progress = createSum(onProgress)
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
  const lane = async () => {
    for (const job of queue) await job()
  }
  // All are waited for, also where one failed: the lock is held for as long as something is written.
  const ended = await Promise.allSettled(Array.from({ length: LANES }, lane))
  const failed = ended.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  // What is compiled here and not in a thread is not interrupted, and is all the same not wanted any more.
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
 * A city database compiled and loaded. One that is corrupt is refused; one that could not be compiled for another
 * reason, such as a full disk, is read as it is.
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

/** Adds up the progress of what runs side by side. */
function createSum(onProgress: OnProgress | undefined): (total: number) => OnProgress {
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
