import type { Snapshot } from '@sallyport/core'
import { type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import { joinCities } from '../tables/cities.ts'
import { readFrontEnds } from '../tables/front-ends.ts'
import { loadCompiled, type SnapshotOptions } from './compiled.ts'
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
  const { sources: compiled, shared: _, places, countries, ...opened } = tables
  const known = new Map([...compiled, ...cities.map(({ status }) => status)].map((status) => [status.id, status]))
  const statuses = sources.map(
    ({ row, reason }) => known.get(row.id) ?? sourceStatus(row, 'absent', reason === undefined ? {} : { reason }),
  )
  return Object.freeze({
    ...opened,
    ...joinCities(cities, { places, countries }),
    frontEnds: readFrontEnds(sources),
    // Facts first: verdicts search this list, and nearly every one names a fact.
    sources: Object.freeze([...FACTS, ...statuses]),
  })
}
