import { isMixed, type NetworkClass, PRIVATE_RELAY } from '@sallyport/core'
import { addressAt, createRangeWriter, FAMILIES, type Ranges } from '../ranges/ranges.ts'
import type { RangeList } from './parts.ts'

/** The system at a place. */
export interface PlaceSystem {
  readonly type: Parameters<typeof isMixed>[0]['type']
  readonly networkClass: NetworkClass
}

/** The system at an IPv4 address, or at the first address of an IPv6 /48 (its two upper words). */
export interface PlaceSystems {
  at4(address: number): PlaceSystem
  at6(upper: number, lower: number): PlaceSystem
}

/** A size of blocks, how many exits must be known in one, and of which systems it must be. */
interface Crowd {
  readonly block: number
  readonly exits: number
  readonly of: (system: PlaceSystem) => boolean
}

const BLOCK = 2 ** 8
const ROW = 2 ** 6

function anyOf(...classes: readonly NetworkClass[]): Crowd['of'] {
  return ({ networkClass }) => classes.includes(networkClass)
}

/**
 * VPN services rent whole rows of machines: where a /24 of a hoster holds three known exits, or its /26 two, most of
 * the other tenants are exits too (`npm run bench -- accuracy` says how many). An access network leases a block out now and
 * then: five exits are no home lines. In a host of VPN services and of others one exit speaks for its row: the next row may
 * be a CDN's.
 */
const CROWDED: readonly Crowd[] = [
  { block: BLOCK, exits: 3, of: anyOf('hosting', 'unknown') },
  { block: BLOCK, exits: 5, of: anyOf('residential_clean', 'mobile') },
  { block: ROW, exits: 2, of: anyOf('hosting', 'unknown') },
  { block: ROW, exits: 1, of: isMixed },
]
/**
 * One exit in a hoster's /24 is seldom alone. A cloud's block has other tenants every day, but of four machines in a row
 * that are exits the service has more there.
 */
const SPARSE: readonly Crowd[] = [
  { block: BLOCK, exits: 1, of: anyOf('hosting', 'unknown') },
  { block: ROW, exits: 4, of: anyOf('datacenter') },
]

/** How many of the addresses that a rule takes in are thought to be exits. */
const TRUST = { crowded: 0.7, sparse: 0.45 } as const
/** Longer prefixes of a list name machines; shorter ones name a network, and say nothing of its like. */
const LARGEST_EXIT_RANGE = 16

/** The ids under which the rules are named as sources. */
const EXIT_DENSITY = 'exit-density'
const PROXY_NEIGHBOURS = 'proxy-neighbours'
const EXIT_NEIGHBOURS = 'exit-neighbours'

/**
 * The prefixes beside known VPN exits, as lists of our own, the surer first: those that are crowded with exits, then others
 * that hold some, which a policy can tell by their confidence. Relay ranges are left out: they are known whole.
 */
export function exitRows(lists: readonly RangeList[], systems: PlaceSystems): readonly RangeList[] {
  const naming = lists.filter(({ networkClass, provider }) => networkClass === 'vpn' && provider !== PRIVATE_RELAY)
  const exits = addressesIn(naming)
  const listOf = (trust: number, ranges: RangeList['ranges']): readonly RangeList[] =>
    FAMILIES.every((family) => (ranges[family]?.count ?? 0) === 0)
      ? []
      : [{ networkClass: 'vpn', rule: 'density', source: EXIT_DENSITY, trust, ranges, ...ours(naming) }]
  return [
    ...listOf(TRUST.crowded, { 4: blocksOf(CROWDED, exits, systems), 6: mixed6(naming, systems) }),
    ...listOf(TRUST.sparse, { 4: blocksOf(SPARSE, exits, systems) }),
  ]
}

/** A rule of ours as a list; no rule is newer than the newest list that it was read from. */
function ours(lists: readonly RangeList[]) {
  const date = lists.map((list) => list.date).reduce((newest, day) => (day > newest ? day : newest))
  return { single: false, provider: '', kind: 'ranges', date } as const
}

/** The IPv4 addresses that lists name one by one, or nearly so. */
function addressesIn(lists: readonly RangeList[]): ReadonlySet<number> {
  const exits = new Set<number>()
  for (const { ranges } of lists) if (ranges[4] !== undefined) collectExits(ranges[4], exits)
  return exits
}

/** The blocks that fit any of these crowds. */
function blocksOf(crowds: readonly Crowd[], exits: ReadonlySet<number>, systems: PlaceSystems): Ranges {
  const writer = createRangeWriter(4)
  for (const { block, exits: atLeast, of } of crowds) {
    for (const [number, count] of countBlocks(exits, block)) {
      const first = number * block
      const last = first + block - 1
      if (count >= atLeast && of(systems.at4(first)) && of(systems.at4(last))) writer.add4(first, last, 1)
    }
  }
  return writer.finish()
}

/** The /48s of hosts of VPN services and of others that hold a known exit. */
function mixed6(lists: readonly RangeList[], systems: PlaceSystems): Ranges {
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

/** Listed proxies in a /24 that make its other lines suspect: those have fifty times as many unseen ones as others. */
const LISTED_PROXIES = 2
const NEIGHBOUR_TRUST = 0.4

/**
 * IPv4 /24s beside what lists name, as lists of our own that decide no class: those with several proxies, which hold as long as
 * the longest of the lists, and those of access networks with an exit of a VPN or of Tor.
 */
export function neighbours(lists: readonly RangeList[], systems: PlaceSystems): readonly RangeList[] {
  const proxies = lists.filter(({ networkClass, single }) => networkClass === 'residential_proxy' && single)
  const exits = lists.filter(
    ({ networkClass, provider }) => networkClass === 'tor' || (networkClass === 'vpn' && provider !== PRIVATE_RELAY),
  )
  const ends = proxies.map(({ expires }) => expires).filter((day) => day !== undefined)
  const isHome = (first: number) => systems.at4(first).networkClass === 'residential_clean'
  return [
    ...besides(proxies, LISTED_PROXIES, () => true, {
      networkClass: 'residential_proxy',
      source: PROXY_NEIGHBOURS,
      ...(ends.length === 0 ? {} : { expires: Math.max(...ends) }),
    }),
    ...besides(exits, 1, isHome, { networkClass: 'vpn', source: EXIT_NEIGHBOURS }),
  ]
}

/** The /24s with so many listed addresses; none where there are none. */
function besides(
  lists: readonly RangeList[],
  atLeast: number,
  isMeant: (first: number) => boolean,
  named: Pick<RangeList, 'networkClass' | 'source' | 'expires'>,
): readonly RangeList[] {
  const writer = createRangeWriter(4)
  for (const [block, count] of countBlocks(addressesIn(lists), BLOCK)) {
    if (count >= atLeast && isMeant(block * BLOCK)) writer.add4(block * BLOCK, block * BLOCK + BLOCK - 1, 1)
  }
  const ranges = { 4: writer.finish() }
  return ranges[4].count === 0 ? [] : [{ rule: 'neighbours', trust: NEIGHBOUR_TRUST, ranges, ...ours(lists), ...named }]
}

function countBlocks(addresses: Iterable<number>, size: number): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const address of addresses) {
    const block = Math.floor(address / size)
    counts.set(block, (counts.get(block) ?? 0) + 1)
  }
  return counts
}

function collectExits({ count, firsts, lasts }: Ranges, exits: Set<number>): void {
  for (let range = 0; range < count; range++) {
    const first = firsts[range] as number
    const last = lasts[range] as number
    if (last - first >= LARGEST_EXIT_RANGE) continue
    for (let exit = first; exit <= last; exit++) exits.add(exit)
  }
}
