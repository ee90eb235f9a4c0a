import { statSync } from 'node:fs'
import { join } from 'node:path'
import { errorText, SallyportError, type SourceStatus } from '@sallyport/core'
import { readInTurns } from '../columns/read-in-turns.ts'
import { type CitySource, cityPath, countriesPath } from '../compile/city-path.ts'
import { compileCityInWorker } from '../compile/in-worker.ts'
import type { CitySourceReader } from '../tables/cities.ts'
import { type CityTable, loadCity } from '../tables/city.ts'
import { loadCountries } from '../tables/countries.ts'
import type { DataLock } from './data-lock.ts'

/** A compiled city database of a dataDir. Its countries are in memory; its places are read when a lookup first needs one. */
export interface CityFile extends CitySourceReader {
  readonly source: SourceStatus
  /** Resolves when nothing is being opened. */
  settled(): Promise<void>
}

export interface CityFileOptions {
  /** `compile.lock` of the dataDir is taken where something must be compiled. */
  readonly lock: DataLock
  /** Called when a compiled file cannot be used and is compiled again. The message names it. */
  readonly onRefused?: ((message: string) => void) | undefined
  /** Called when a lookup needs a place, and a city file could neither be read nor compiled again. The message names it. */
  readonly onLost?: ((message: string) => void) | undefined
  /** Milliseconds after a loss of places until the next lookup opens them again. */
  readonly retryMs?: number | undefined
  /** Aborts a compile, or the wait for another process's; rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Whether the dataDir may not be written: what is not compiled cannot be used. */
  readonly readOnly?: boolean | undefined
}

/** A loss may be of a moment, such as for want of file descriptors; a compile is too dear for each lookup. */
const RETRY_MS = 60_000

/**
 * Loads the countries. Throws `missing_data` when either file does not exist, and `corrupt_data` for unreadable countries. The first lookup
 * of a place reads the places. When they cannot be read, they are compiled again while the caller waits; when that fails too, they are lost
 * for `retryMs`.
 */
export function openCityFile(dataDir: string, source: CitySource, options: CityFileOptions): CityFile {
  const { lock, signal, readOnly = false, onRefused, onLost, retryMs = RETRY_MS } = options
  const path = cityPath(dataDir, source)
  const countries = loadCountries(countriesPath(dataDir, source))
  const isThere = statSync(path, { throwIfNoEntry: false })?.isFile()
  if (!isThere) throw new SallyportError('missing_data', `${path}: the file does not exist`)
  const compiled = async () => loadCity((await compileCityInWorker({ dataDir, source, signal })).shared)
  const again = (error: Error) => {
    if (readOnly) throw error
    onRefused?.(error.message)
    // Loaded once more inside the lock: another process may have compiled it meanwhile.
    return lock.withLock(join(dataDir, 'compile.lock'), () => load(path).catch(compiled), { signal })
  }
  let opened: Promise<CityTable> | undefined
  let table: CityTable | undefined
  let retryAt = Number.POSITIVE_INFINITY

  async function open(): Promise<CityTable> {
    try {
      signal?.throwIfAborted()
      table = await load(path).catch(again)
      return table
    } catch (error) {
      retryAt = performance.now() + retryMs
      if (!signal?.aborted) onLost?.(errorText(error))
      throw error
    }
  }

  function places(): Promise<CityTable> {
    if (opened === undefined || performance.now() >= retryAt) {
      retryAt = Number.POSITIVE_INFINITY
      opened = open()
    }
    return opened
  }

  return {
    source: countries.source,
    families: countries.families,
    country: countries.find,
    places,
    opened() {
      // Rules about regions make no other lookup, and places that were lost would stay lost.
      if (table === undefined && performance.now() >= retryAt) places().catch(() => {})
      return table
    },
    settled: async () => {
      await opened?.catch(() => undefined)
    },
  }
}

async function load(path: string): Promise<CityTable> {
  return loadCity(await readInTurns(path))
}
