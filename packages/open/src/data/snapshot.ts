import type { Snapshot } from '@sallyport/core'
import { joinCities, type ResolvedSource, readFrontEnds, sourceStatus } from '@sallyport/datasets'
import { type CompileHooks, loadCompiled } from './compiled.ts'
import { derivedFacts, FACTS } from './facts.ts'

export type SnapshotHooks = CompileHooks

/**
 * The compiled tables and city files of these sources, loaded, and compiled first where the dataDir has none. A source
 * that cannot be used is a status row, never an exception.
 */
export async function openSnapshot(
  dataDir: string,
  sources: readonly ResolvedSource[],
  hooks: SnapshotHooks = {},
): Promise<Snapshot> {
  const { tables, cities } = await loadCompiled(dataDir, sources, hooks)
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
