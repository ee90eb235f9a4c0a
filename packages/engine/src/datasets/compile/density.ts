import { address4, isMixed, type NetworkClass } from '@sallyport/core'
import { findNewest } from '../format/days.ts'
import { hasExits } from '../format/range-source.ts'
import { addressAt, createRangeWriter, FAMILIES, narrowRanges, type Ranges } from '../ranges/ranges.ts'
import type { RangeList } from './parts.ts'

export type PlaceSystem = Parameters<typeof isMixed>[0]

/** Finds the system at an IPv4 address, or at the first address of an IPv6 /48, given by its two upper words. */
export interface PlaceSystems {
  at4(address: number): PlaceSystem
  at6(upper: number, lower: number): PlaceSystem
}

/** A block of this size is crowded when it holds so many known exits and its system fits `of`. */
interface Crowd {
  readonly block: number
  readonly exits: number
  readonly of: (system: PlaceSystem) => boolean
}

const BLOCK = 2 ** 8
const ROW = 2 ** 6

function hasClass(...classes: readonly NetworkClass[]): Crowd['of'] {
  return ({ networkClass }) => classes.includes(networkClass)
}

/**
 * VPN services rent whole rows of machines: where a /24 of a hoster holds three known exits, or its /26 two, most of
 * the other tenants are exits too (`npm run bench -- accuracy` says how many). An access network leases a block out now and
 * then: five exits are no home lines. In a host of VPN services and of others one exit speaks for its row: the next row may
 * be a CDN's.
 */
const CROWDED: readonly Crowd[] = [
  { block: BLOCK, exits: 3, of: hasClass('hosting', 'unknown') },
  { block: BLOCK, exits: 5, of: hasClass('residential_clean', 'mobile') },
  { block: ROW, exits: 2, of: hasClass('hosting', 'unknown') },
  { block: ROW, exits: 1, of: isMixed },
]
/**
 * One exit in a hoster's /24 is seldom alone. A cloud's block has other tenants every day, but of four machines in a row
 * that are exits the service has more there.
 */
const SPARSE: readonly Crowd[] = [
  { block: BLOCK, exits: 1, of: hasClass('hosting', 'unknown') },
  { block: ROW, exits: 4, of: hasClass('datacenter') },
]

/** The share of a rule's addresses that are thought to be exits. */
const TRUST = { crowded: 0.7, sparse: 0.45 } as const
/** Longer prefixes of a list name machines; shorter ones name a network, and say nothing of its like. */
const LARGEST_EXIT_RANGE = 16

/**
 * Returns the prefixes beside known VPN exits as derived lists, the surer first: prefixes crowded with exits, then prefixes that hold some,
 * which a policy can tell by their confidence.
 */
export function exitRows(lists: readonly RangeList[], systems: PlaceSystems): readonly RangeList[] {
  const naming = lists.filter(hasExits)
  const exits = listExits(naming)
  const makeLists = (trust: number, ranges: RangeList['ranges']): readonly RangeList[] =>
    FAMILIES.every((family) => (ranges[family]?.count ?? 0) === 0)
      ? []
      : [{ networkClass: 'vpn', rule: 'density', source: 'exit-density', trust, ranges, ...fill(naming) }]
  return [
    ...makeLists(TRUST.crowded, { 4: findBlocks(CROWDED, exits, systems), 6: findMixed6(naming, systems) }),
    ...makeLists(TRUST.sparse, { 4: findBlocks(SPARSE, exits, systems) }),
  ]
}

/** Fills in the members of a derived list. It is no newer than the newest list that it derives from. */
function fill(lists: readonly RangeList[]) {
  return { single: false, provider: '', kind: 'ranges', date: findNewest(lists) } as const
}

/** Lists the IPv4 addresses that lists name one by one, or nearly so. */
function listExits(lists: readonly RangeList[]): ReadonlySet<number> {
  const exits = new Set<number>()
  for (const { ranges } of lists) {
    for (const { first, last } of narrowRanges(ranges, LARGEST_EXIT_RANGE)) {
      for (let exit = first; exit <= last; exit++) exits.add(exit)
    }
  }
  return exits
}

function findBlocks(crowds: readonly Crowd[], exits: ReadonlySet<number>, systems: PlaceSystems): Ranges {
  const writer = createRangeWriter(4)
  for (const { block, exits: atLeast, of } of crowds) {
    for (const [number, count] of countBlocks(exits, block)) {
      const first = number * block
      const last = first + block - 1
      if (count < atLeast || !of(systems.at4(first)) || !of(systems.at4(last))) continue
      writer.add(address4(first), address4(last), 1)
    }
  }
  return writer.finish()
}

/** Finds the /48s that hold a known exit in networks that host VPN services and other tenants. */
function findMixed6(lists: readonly RangeList[], systems: PlaceSystems): Ranges {
  const writer = createRangeWriter(6)
  const seen = new Set<number>()
  for (const { ranges } of lists) {
    const read = ranges[6]
    if (read === undefined) continue
    for (let range = 0; range < read.count; range++) {
      const exit = addressAt(6, read.firsts, range)
      const last = addressAt(6, read.lasts, range)
      // A /64 is one customer's; what is wider names a network.
      const isWide = exit.a !== last.a || exit.b !== last.b
      const lower = (exit.b & 0xffff0000) >>> 0
      const key = (exit.a >>> 0) * 2 ** 16 + (lower >>> 16)
      if (isWide || seen.has(key) || !isMixed(systems.at6(exit.a >>> 0, lower))) continue
      seen.add(key)
      const base = { family: 6, a: exit.a, b: lower | 0 } as const
      writer.add({ ...base, c: 0, d: 0 }, { ...base, b: lower | 0xffff, c: -1, d: -1 }, 1)
    }
  }
  return writer.finish()
}

/** A /24 with so many listed proxies has fifty times as many unlisted ones as other /24s. */
const LISTED_PROXIES = 2
const NEIGHBOUR_TRUST = 0.4

/**
 * Returns IPv4 /24s around listed addresses as derived lists that decide no class: /24s with several proxies, which hold as long as the
 * longest of the lists, and /24s of access networks with an exit of a VPN or of Tor.
 */
export function neighbours(lists: readonly RangeList[], systems: PlaceSystems): readonly RangeList[] {
  const proxies = lists.filter(({ networkClass, single }) => networkClass === 'residential_proxy' && single)
  const exits = lists.filter((list) => list.networkClass === 'tor' || hasExits(list))
  const ends = proxies.map(({ expires }) => expires).filter((day) => day !== undefined)
  const isHome = (first: number) => systems.at4(first).networkClass === 'residential_clean'
  return [
    ...listBlocks(proxies, LISTED_PROXIES, () => true, {
      networkClass: 'residential_proxy',
      source: 'proxy-neighbours',
      ...(ends.length === 0 ? {} : { expires: Math.max(...ends) }),
    }),
    ...listBlocks(exits, 1, isHome, { networkClass: 'vpn', source: 'exit-neighbours' }),
  ]
}

/** Lists the /24s with at least `atLeast` listed addresses; returns no list when there are none. */
function listBlocks(
  lists: readonly RangeList[],
  atLeast: number,
  isMeant: (first: number) => boolean,
  named: Pick<RangeList, 'networkClass' | 'source' | 'expires'>,
): readonly RangeList[] {
  const writer = createRangeWriter(4)
  for (const [block, count] of countBlocks(listExits(lists), BLOCK)) {
    const first = block * BLOCK
    if (count >= atLeast && isMeant(first)) writer.add(address4(first), address4(first + BLOCK - 1), 1)
  }
  const ranges = { 4: writer.finish() }
  return ranges[4].count === 0 ? [] : [{ rule: 'neighbours', trust: NEIGHBOUR_TRUST, ranges, ...fill(lists), ...named }]
}

function countBlocks(addresses: Iterable<number>, size: number): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const address of addresses) {
    const block = Math.floor(address / size)
    counts.set(block, (counts.get(block) ?? 0) + 1)
  }
  return counts
}
