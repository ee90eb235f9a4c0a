import type { Snapshot } from '@sallyport/core'
import { type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import { joinCities } from '../tables/cities.ts'
import { readFrontEnds } from '../tables/front-ends.ts'
import { loadCompiled, type SnapshotOptions } from './compiled.ts'
import { derivedFacts, FACTS } from './facts.ts'

/**
 * The compiled tables and city files of these sources, loaded, and compiled first where the dataDir has none. A source
 * that cannot be used is a status row, never an exception.
 */
export async function openSnapshot(
  dataDir: string,
  sources: readonly ResolvedSource[],
  options: SnapshotOptions,
): Promise<Snapshot> {
  const { tables, cities } = await loadCompiled(dataDir, sources, options)
  const { networks, systems, crawlerRanges, places, rangesLoaded, proxiesLoaded } = tables
  const statuses = new Map([...tables.sources, ...cities.map(({ status }) => status)].map((row) => [row.id, row]))
  return Object.freeze({
    ...(networks === undefined ? {} : { networks }),
    ...(systems === undefined ? {} : { systems }),
    ...(crawlerRanges === undefined ? {} : { crawlerRanges }),
    ...joinCities(cities, places),
    frontEnds: readFrontEnds(sources),
    rangesLoaded,
    proxiesLoaded,
    // Facts first: verdicts search this list, and nearly every one names a fact.
    sources: Object.freeze([
      ...FACTS,
      ...derivedFacts(tables.sources),
      ...sources.map(
        ({ row, reason }) =>
          statuses.get(row.id) ?? sourceStatus(row, 'absent', reason === undefined ? {} : { reason }),
      ),
    ]),
  })
}
