import {
  type CrawlerRanges,
  lastNotAbove,
  type NetworkTable,
  type SourceStatus,
  type SystemTable,
} from '@sallyport/core'
import { readColumns } from '../columns/decode.ts'
import { dayNumber } from '../format/days.ts'
import { type DecodedTables, TABLES_FORM } from '../format/tables.ts'
import type { LoadOptions } from './listed-addresses.ts'
import { openNetworks } from './networks.ts'
import { openPlaces, type PlaceTable } from './places.ts'
import { openSystems } from './systems.ts'

/** Compiled tables in memory. A member is absent when none of the sources that it is made from could be read. */
export interface LoadedTables {
  readonly networks?: NetworkTable | undefined
  readonly systems?: SystemTable | undefined
  readonly crawlerRanges?: CrawlerRanges | undefined
  /** Places that operators publish of their own prefixes. */
  readonly places?: PlaceTable | undefined
  readonly sources: readonly SourceStatus[]
  /** True when both a VPN and a datacenter range list are in `networks`. */
  readonly rangesLoaded: boolean
  /** True when a list of residential proxies is in `networks`. */
  readonly proxiesLoaded: boolean
  /** The bytes that all of this reads from; another thread that is handed them loads them without a copy. */
  readonly shared: SharedArrayBuffer
}

/**
 * Loads a compiled file: one read into shared memory, one checksum, and views on it; records become objects when they
 * are first asked for. `source` is its path, or its bytes as another thread of this process loaded or compiled them.
 * Throws `corrupt_data` naming the file for one byte too few, too many or changed, and `missing_data` when it is not
 * there.
 *
 * @example
 * ```ts
 * import { Worker } from 'node:worker_threads'
 * import { loadTables } from '@sallyport/engine'
 *
 * const { sources, shared } = loadTables(process.argv[2] ?? '')      // <dataDir>/tables-….bin
 * for (const { id, date } of sources) console.log(id, date)
 * new Worker('./worker.js', { workerData: shared })                   // there: loadTables(workerData), without a copy
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/data.md#compiled-data
 */
export function loadTables(
  source: string | SharedArrayBuffer,
  { today = systemDay, confirmed = () => undefined }: LoadOptions = {},
): LoadedTables {
  const tables: DecodedTables = readColumns(TABLES_FORM, source)
  const { loaded, sources, rangesLoaded, proxiesLoaded, crawlers, places } = tables.description
  const systems = openSystems(tables)
  return {
    ...(loaded.networks ? { networks: openNetworks(tables, systems, { today, confirmed }) } : {}),
    ...(loaded.systems ? { systems } : {}),
    ...(crawlers.length > 0 ? { crawlerRanges: openCrawlers(tables) } : {}),
    ...(places.length > 0 ? { places: openPlaces(tables) } : {}),
    sources,
    rangesLoaded,
    proxiesLoaded,
    shared: tables.shared,
  }
}

function systemDay(): number {
  return dayNumber(Date.now())
}

/** The crawler ranges over the columns of a compiled file. */
function openCrawlers({ columns, description }: DecodedTables): CrawlerRanges {
  const [starts4, starts6] = [columns['crawlers4.starts'], columns['crawlers6.starts']]
  const [sets4, sets6] = [columns['crawlers4.sets'], columns['crawlers6.sets']]
  const sets = description.crawlerSets.map((positions) =>
    Object.freeze([...new Set(positions.map((position) => description.crawlers[position] as string))]),
  )
  const slugsOf = (numbers: Iterable<number>) => new Set([...new Set(numbers)].flatMap((number) => sets[number] ?? []))
  const covered = { 4: slugsOf(sets4), 6: slugsOf(sets6) }
  return {
    covers: (slug, family) => covered[family].has(slug),
    find(address) {
      const [starts, numbers] = address.family === 4 ? [starts4, sets4] : [starts6, sets6]
      return sets[numbers[lastNotAbove(starts, address)] as number] as readonly string[]
    },
  }
}
