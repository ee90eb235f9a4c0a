import { statSync } from 'node:fs'
import { join } from 'node:path'
import { errorText, SallyportError, type SourceStatus } from '@sallyport/core'
import { readInTurns } from '../columns/read-in-turns.ts'
import type { CityJob } from '../compile/city.ts'
import { cityPath, countriesPath } from '../compile/city-path.ts'
import { compileCityInWorker } from '../compile/in-worker.ts'
import type { CitySourceReader } from '../tables/cities.ts'
import { type CityTable, loadCity } from '../tables/city.ts'
import { loadCountries } from '../tables/countries.ts'
import type { DataLock } from './data-lock.ts'

/** A compiled city database of a dataDir: its countries in memory, and its places from when somebody asks for one. */
export interface CityFile extends CitySourceReader {
  readonly source: SourceStatus
  /** Resolves when nothing is being opened. */
  settled(): Promise<void>
}

export interface CityFileOptions {
  readonly signal?: AbortSignal | undefined
  readonly onLost?: ((message: string) => void) | undefined
  /** How long after places were lost the next question opens them again. */
  readonly retryMs?: number | undefined
  readonly lock: DataLock
  readonly readOnly?: boolean | undefined
  readonly onRefused?: ((message: string) => void) | undefined
}

/** A loss may be of a moment, such as for want of file descriptors; a compile is too dear for each question. */
const RETRY_MS = 60_000

/**
 * Loads the countries. Throws `missing_data` where either file is not there, and `corrupt_data` for unreadable countries. The
 * places are read once, when they are first asked for; where they cannot be, they are compiled again, and who asked
 * waits; where that fails too, they are lost until some time has passed.
 */
export function openCityFile({ dataDir, source }: CityJob, options: CityFileOptions): CityFile {
  const { lock, signal, readOnly = false, onRefused, onLost, retryMs = RETRY_MS } = options
  const path = cityPath(dataDir, source)
  const countries = loadCountries(countriesPath(dataDir, source))
  const isThere = statSync(path, { throwIfNoEntry: false })?.isFile()
  if (!isThere) throw new SallyportError('missing_data', `${path}: it is not there`)
  const compiled = async () => loadCity((await compileCityInWorker({ dataDir, source, signal })).shared)
  const again = (error: Error) => {
    if (readOnly) throw error
    onRefused?.(error.message)
    // Loaded once more inside the lock: another process may have compiled it meanwhile.
    return lock.withLock(join(dataDir, 'compile.lock'), () => load(path).catch(compiled), { signal })
  }
  let opened: Promise<CityTable> | undefined
  let retryAt = Number.POSITIVE_INFINITY

  async function open(): Promise<CityTable> {
    try {
      signal?.throwIfAborted()
      return await load(path).catch(again)
    } catch (error) {
      retryAt = performance.now() + retryMs
      if (!signal?.aborted) onLost?.(errorText(error))
      throw error
    }
  }

  return {
    source: countries.source,
    families: countries.families,
    country: countries.find,
    places() {
      if (opened === undefined || performance.now() >= retryAt) {
        retryAt = Number.POSITIVE_INFINITY
        opened = open()
      }
      return opened
    },
    settled: async () => {
      await opened?.catch(() => undefined)
    },
  }
}

async function load(path: string): Promise<CityTable> {
  return loadCity(await readInTurns(path))
}
