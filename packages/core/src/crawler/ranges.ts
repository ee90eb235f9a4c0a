import { DATED_RANGES, type DatedRanges } from '@sallyport/data/crawlers'
import { compareAddresses } from '../address/address.ts'
import { createPartition } from '../address/partition.ts'
import { formatPrefix, type Prefix, parsePrefix, prefixContains } from '../address/prefix.ts'
import type { CrawlerRangeStatus, Snapshot } from '../ports/index.ts'
import type { Whole } from '../values/members.ts'

/** Holds one list of published ranges as it was read. */
export interface RangeList extends CrawlerRangeStatus {
  /** Matches a `ranges` of the catalogue, or the slug of a crawler whose operator publishes none. */
  readonly slug: string
  readonly prefixes: readonly Prefix[]
}

/** Two members of a snapshot concern crawlers. */
export type LoadedRanges = Whole<Pick<Snapshot, 'crawlerRanges' | 'crawlerStatus'>>

/** Keeps published ranges in memory, one list for each slug. */
export function createCrawlerRanges(lists: readonly RangeList[]): LoadedRanges {
  const { prefixes, slugs } = layOut(lists)
  const partition = createPartition(prefixes)
  const covered = new Set(
    lists.flatMap(({ slug, prefixes }) => prefixes.map(({ address }) => `${address.family} ${slug}`)),
  )
  return {
    crawlerRanges: {
      find: (address) => slugs[partition.find(address)] ?? NONE,
      covers: (slug, family) => covered.has(`${family} ${slug}`),
    },
    // The lists are not copied: a state may depend on the time at which it is read.
    crawlerStatus: lists,
  }
}

/**
 * Returns the well-known prefixes that come with Sallyport: they confirm offline and never refute. Throws `TypeError` where one is not a
 * CIDR.
 */
export function datedRanges(rows: readonly DatedRanges[] = DATED_RANGES): LoadedRanges {
  return createCrawlerRanges(
    rows.map(({ id, date, prefixes }) => {
      const source = { id: 'crawlers', ages: 'crawler', lastTrue: date } as const
      return { slug: id, state: 'stale', date, source, prefixes: prefixes.map(prefixOfText) }
    }),
  )
}

function prefixOfText(text: string): Prefix {
  const prefix = parsePrefix(text)
  if (prefix === undefined) throw new TypeError(`not a CIDR: ${text}`)
  return prefix
}

const NONE: readonly string[] = Object.freeze([])

/** Lists every prefix once, with the slugs of all lists that hold it: its own and those of the prefixes around it. */
function layOut(lists: readonly RangeList[]) {
  const own = new Map<string, { readonly prefix: Prefix; slugs: readonly string[] }>()
  for (const { slug, prefixes } of lists) {
    // Most prefixes are in one list alone, and share this.
    const alone = Object.freeze([slug])
    for (const prefix of prefixes) {
      const text = formatPrefix(prefix)
      const known = own.get(text)
      if (known === undefined) own.set(text, { prefix, slugs: alone })
      else known.slugs = joinSlugs(known.slugs, alone)
    }
  }
  // Outer prefixes sort before inner ones, so that a stack holds the prefixes around each one.
  const ordered = [...own.values()].sort(
    (x, y) => compareAddresses(x.prefix.address, y.prefix.address) || x.prefix.length - y.prefix.length,
  )
  const around: typeof ordered = []
  for (const entry of ordered) {
    for (let top = around.at(-1); top && !prefixContains(top.prefix, entry.prefix.address); top = around.at(-1)) {
      around.pop()
    }
    entry.slugs = joinSlugs(entry.slugs, around.at(-1)?.slugs ?? NONE)
    around.push(entry)
  }
  return {
    prefixes: ordered.map(({ prefix }) => prefix),
    slugs: ordered.map(({ slugs }) => slugs),
  }
}

function joinSlugs(slugs: readonly string[], more: readonly string[]): readonly string[] {
  const added = more.filter((slug) => !slugs.includes(slug))
  return added.length === 0 ? slugs : Object.freeze([...slugs, ...added])
}
