import type { FrontEnds, Snapshot, SourceStatus } from '@sallyport/core'
import { type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import { joinCities } from '../tables/cities.ts'
import { readFrontEnds } from '../tables/front-ends.ts'
import type { LoadedTables } from '../tables/load.ts'
import { type Compiled, loadCompiled, type SnapshotOptions } from './compiled.ts'
import { FACTS } from './facts.ts'

/**
 * Opens the snapshot of these sources. Loads their compiled tables and city files, and compiles them first when the dataDir has none. A
 * source that cannot be used becomes a status row, never an exception.
 */
export async function openSnapshot(
  dataDir: string,
  sources: readonly ResolvedSource[],
  options: SnapshotOptions,
): Promise<Snapshot> {
  const { tables, cities } = await loadCompiled(dataDir, sources, options)
  const statuses = new Map([...tables.sources, ...cities.map(({ status }) => status)].map((row) => [row.id, row]))
  return buildSnapshot({
    tables,
    cities,
    frontEnds: readFrontEnds(sources),
    // Facts first: verdicts search this list, and nearly every one names a fact.
    sources: [
      ...FACTS,
      ...sources.map(
        ({ row, reason }) =>
          statuses.get(row.id) ?? sourceStatus(row, 'absent', reason === undefined ? {} : { reason }),
      ),
    ],
  })
}

interface SnapshotParts extends Pick<Compiled, 'cities'> {
  readonly tables: Omit<LoadedTables, 'shared' | 'sources'>
  readonly frontEnds: FrontEnds
  readonly sources: readonly SourceStatus[]
}

/** Builds a snapshot of what is loaded. */
function buildSnapshot({ tables, cities, frontEnds, sources }: SnapshotParts): Snapshot {
  const { networks, systems, crawlerRanges, rangesLoaded, proxiesLoaded } = tables
  return Object.freeze({
    ...(networks === undefined ? {} : { networks }),
    ...(systems === undefined ? {} : { systems }),
    ...(crawlerRanges === undefined ? {} : { crawlerRanges }),
    ...joinCities(cities, tables),
    frontEnds,
    rangesLoaded,
    proxiesLoaded,
    sources: Object.freeze(sources),
  })
}
