import { type CountryTable, type CrawlerRanges, lastNotAbove } from '@sallyport/core'
import { findSegment, pickPartitions } from '../format/partitions.ts'
import type { TableColumns } from '../format/tables.ts'
import { openNetworks } from './networks.ts'
import { openPlaces } from './places.ts'
import { openSystems } from './systems.ts'

/**
 * Opens the tables over columns that are in memory. A member is absent when none of the sources that it is made from could be read. `today`
 * counts days since the epoch, by which listed addresses expire.
 */
export function openTables(tables: TableColumns, today: () => number) {
  const { loaded, sources, rangesLoaded, proxiesLoaded, crawlers, places, countriesBy } = tables.description
  const systems = openSystems(tables)
  return {
    ...(loaded.networks ? { networks: openNetworks(tables, systems, today) } : {}),
    ...(loaded.systems ? { systems } : {}),
    ...(crawlers.length > 0 ? { crawlerRanges: openCrawlers(tables) } : {}),
    /** Places that operators publish of their own prefixes. */
    ...(places.length > 0 ? { places: openPlaces(tables) } : {}),
    /** Includes countries of use and of registration. */
    ...(countriesBy.length > 0 ? { countries: openCountries(tables) } : {}),
    sources,
    /** True when both a VPN and a datacenter range list are in `networks`. */
    rangesLoaded,
    /** True when a list of residential proxies is in `networks`. */
    proxiesLoaded,
  }
}

/** Opens the tables of countries over the columns of a compiled file. */
function openCountries({ columns, description }: TableColumns): CountryTable {
  const partitions = pickPartitions(columns, 'countries4', 'countries6')
  const numbers = { 4: columns['countries4.numbers'], 6: columns['countries6.numbers'] }
  const known = description.countriesBy.map((country) => Object.freeze(country))
  return {
    find: (address) => known[(numbers[address.family][findSegment(partitions, address)] as number) - 1],
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
    holds(slug, address) {
      const [starts, numbers] = address.family === 4 ? [starts4, sets4] : [starts6, sets6]
      return sets[numbers[lastNotAbove(starts, address)] as number]?.includes(slug) === true
    },
  }
}
