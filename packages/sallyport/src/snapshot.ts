import { join } from 'node:path'
import { SallyportError, type Snapshot, type SourceStatus } from '@sallyport/core'
import {
  compileTables,
  type LoadedTables,
  loadTables,
  openCities,
  type ResolvedSource,
  resolveSources,
  tablesPath,
} from '@sallyport/datasets'
import { withLock } from '@sallyport/stores'
import type { Config } from './config/schema.ts'
import { FACTS } from './facts.ts'

export interface SnapshotHooks {
  /** While data is compiled: what is being read, and how many bytes of how many. */
  readonly onProgress?: (stage: string, done: number, total: number) => void
  /** Another process compiles the same data, and this one waits for it. */
  readonly onWait?: () => void
  /** A compiled file is there and cannot be used; it is compiled anew. The message names it. */
  readonly onRefused?: (message: string) => void
}

/**
 * Everything that a configuration names, loaded: the compiled tables, compiled first where this dataDir has none for
 * these sources, and the city database. A source that cannot be used is a status row, never an exception.
 */
export async function openSnapshot(config: Config, hooks: SnapshotHooks = {}): Promise<Snapshot> {
  const sources = resolveSources(config.data.sources)
  const tables = await currentTables(config.dataDir, sources, hooks)
  const cities = await openCities(sources)
  const { networks, systems, countries, rangesLoaded } = tables
  return Object.freeze({
    ...(networks === undefined ? {} : { networks }),
    ...(systems === undefined ? {} : { systems }),
    ...(countries === undefined ? {} : { countries }),
    ...(cities.geo === undefined ? {} : { geo: cities.geo }),
    rangesLoaded,
    // The facts first: nearly every verdict names one of them, and looks it up here.
    sources: Object.freeze([...FACTS, ...tables.sources.map((status) => refusedNow(status, cities.refused))]),
  })
}

/** A city database can go bad after its countries were compiled: what is true now is what is said. */
function refusedNow(status: SourceStatus, refused: ReadonlyMap<string, string>): SourceStatus {
  const reason = refused.get(status.id)
  return reason === undefined ? status : { ...status, state: 'refused', reason }
}

/**
 * The tables for these sources, compiled where this dataDir has none that can be read. One process compiles and the
 * others wait for it, then look again: the lock is taken only where there is something to do.
 */
async function currentTables(
  dataDir: string,
  sources: readonly ResolvedSource[],
  hooks: SnapshotHooks,
): Promise<LoadedTables> {
  const path = tablesPath(dataDir, sources)
  return (
    tryLoad(path, hooks.onRefused) ??
    (await withLock(
      join(dataDir, 'compile.lock'),
      async () => {
        const others = tryLoad(path)
        if (others !== undefined) return others
        await compileTables({
          dataDir,
          sources,
          ...(hooks.onProgress === undefined ? {} : { onProgress: hooks.onProgress }),
        })
        return loadTables(path)
      },
      hooks.onWait === undefined ? {} : { onWait: hooks.onWait },
    ))
  )
}

/** `undefined` where the file is not there, or is there and cannot be used: both mean that it is to be compiled. */
function tryLoad(path: string, onRefused?: (message: string) => void): LoadedTables | undefined {
  try {
    return loadTables(path)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    if (error.code === 'corrupt_data') onRefused?.(error.message)
    return undefined
  }
}
