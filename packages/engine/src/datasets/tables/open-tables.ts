import {
  type CountryTable,
  type CrawlerRanges,
  lastNotAbove,
  type NetworkTable,
  type SourceStatus,
  type SystemTable,
} from '@sallyport/core'
import type { TableColumns } from '../format/tables.ts'
import { openCountries } from './known-countries.ts'
import type { Expiry } from './listed-addresses.ts'
import { openNetworks } from './networks.ts'
import { openPlaces, type PlaceTable } from './places.ts'
import { openSystems } from './systems.ts'

/** Compiled tables in memory. A member is absent when none of the sources that it is made from could be read. */
export interface OpenedTables {
  readonly networks?: NetworkTable | undefined
  readonly systems?: SystemTable | undefined
  readonly crawlerRanges?: CrawlerRanges | undefined
  /** Places that operators publish of their own prefixes. */
  readonly places?: PlaceTable | undefined
  /** Includes countries of use and of registration. */
  readonly countries?: CountryTable | undefined
  readonly sources: readonly SourceStatus[]
  /** True when both a VPN and a datacenter range list are in `networks`. */
  readonly rangesLoaded: boolean
  /** True when a list of residential proxies is in `networks`. */
  readonly proxiesLoaded: boolean
}

/** Opens the tables over columns that are in memory. */
export function openTables(tables: TableColumns, expiry: Expiry): OpenedTables {
  const { loaded, sources, rangesLoaded, proxiesLoaded, crawlers, places, countriesBy } = tables.description
  const systems = openSystems(tables)
  return {
    ...(loaded.networks ? { networks: openNetworks(tables, systems, expiry) } : {}),
    ...(loaded.systems ? { systems } : {}),
    ...(crawlers.length > 0 ? { crawlerRanges: openCrawlers(tables) } : {}),
    ...(places.length > 0 ? { places: openPlaces(tables) } : {}),
    ...(countriesBy.length > 0 ? { countries: openCountries(tables) } : {}),
    sources,
    rangesLoaded,
    proxiesLoaded,
  }
}

/** Opens the crawler ranges over the columns of a compiled file. */
function openCrawlers({ columns, description }: TableColumns): CrawlerRanges {
  const [starts4, starts6] = [columns['crawlers4.starts'], columns['crawlers6.starts']]
  const [sets4, sets6] = [columns['crawlers4.sets'], columns['crawlers6.sets']]
  const sets = description.crawlerSets.map((positions) =>
    Object.freeze([...new Set(positions.map((position) => description.crawlers[position] as string))]),
  )
  const collectSlugs = (numbers: Iterable<number>) =>
    new Set([...new Set(numbers)].flatMap((number) => sets[number] ?? []))
  const covered = { 4: collectSlugs(sets4), 6: collectSlugs(sets6) }
  return {
    covers: (slug, family) => covered[family].has(slug),
    find(address) {
      const [starts, numbers] = address.family === 4 ? [starts4, sets4] : [starts6, sets6]
      return sets[numbers[lastNotAbove(starts, address)] as number] as readonly string[]
    },
  }
}
