import { DATED_RANGES } from '@sallyport/data/crawlers'
import { type Prefix, parsePrefix } from '../address/prefix.ts'
import { createPrefixSet } from '../address/prefix-set.ts'
import type { CrawlerRangeStatus, Snapshot } from '../ports/index.ts'
import type { Whole } from '../values/members.ts'

/** Holds one list of published ranges. `slug` is a `ranges` of the catalogue, or a crawler whose operator publishes none. */
export interface RangeList extends CrawlerRangeStatus {
  readonly prefixes: readonly Prefix[]
}

/** Two members of a snapshot concern crawlers. */
export type LoadedRanges = Whole<Pick<Snapshot, 'crawlerRanges' | 'crawlerStatus'>>

/** Keeps published ranges in memory. */
export function createCrawlerRanges(lists: readonly RangeList[]): LoadedRanges {
  const prefixes = new Map<string, Prefix[]>()
  for (const { slug, prefixes: more } of lists) prefixes.set(slug, [...(prefixes.get(slug) ?? []), ...more])
  const ranges = new Map(
    [...prefixes].map(([slug, own]) => [
      slug,
      { set: createPrefixSet(own), families: new Set(own.map(({ address }) => address.family)) },
    ]),
  )
  return {
    crawlerRanges: {
      holds: (slug, address) => ranges.get(slug)?.set.has(address) === true,
      covers: (slug, family) => ranges.get(slug)?.families.has(family) === true,
    },
    // The lists are not copied: a state may depend on the time at which it is read.
    crawlerStatus: lists,
  }
}

/** Returns the well-known prefixes that come with Sallyport: they confirm offline and never refute. */
export function datedRanges(): LoadedRanges {
  return createCrawlerRanges(
    DATED_RANGES.map(({ id, date, prefixes }) => {
      const source = { id: 'crawlers', ages: 'crawler', lastTrue: date } as const
      return { slug: id, state: 'stale', date, source, prefixes: prefixes.map((text) => parsePrefix(text) as Prefix) }
    }),
  )
}
