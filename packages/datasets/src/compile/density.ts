import { isMixed, type NetworkClass, PRIVATE_RELAY } from '@sallyport/core'
import { addressAt, createRangeWriter, type Ranges } from '../ranges/ranges.ts'
import type { RangeList } from './parts.ts'

/** What a system at a place is. */
export interface PlaceSystem {
  readonly type: Parameters<typeof isMixed>[0]['type']
  readonly networkClass: NetworkClass
}

/** The system at an IPv4 address, or at the first address of an IPv6 /48 (its two upper words). */
export interface PlaceSystems {
  at4(address: number): PlaceSystem
  at6(upper: number, lower: number): PlaceSystem
}

/**
 * VPN services rent whole rows of machines: where a /24 holds some exits that are known, most of its other tenants are
 * exits too (`npm run bench -- accuracy` says how many). An access network leases a block out now and then: five exits are
 * no home lines.
 */
const KNOWN_EXITS: Readonly<Partial<Record<NetworkClass, number>>> = {
  hosting: 3,
  unknown: 3,
  residential_clean: 5,
  mobile: 5,
}
const BLOCK = 2 ** 8
/**
 * A row of machines is nearer than a /24: two exits speak for it in a host, and one in a host of VPN services and of others,
 * where the next row may be a CDN's.
 */
const ROW = 2 ** 6
const KNOWN_IN_ROW = 2
/** Where two exits may speak for a row. */
const HOSTS: readonly NetworkClass[] = ['hosting', 'unknown']
/** How many of the addresses that the rule takes in are thought to be exits. */
const TRUST = 0.7
/** What is longer than this in a list names machines; what is shorter names a network, and says nothing of its like. */
const LARGEST_EXIT_RANGE = 16

/** The ids under which the rules are named as sources. */
export const EXIT_DENSITY = 'exit-density'
export const PROXY_NEIGHBOURS = 'proxy-neighbours'

/**
 * The prefixes that are crowded with known VPN exits, as a list of our own; `undefined` where there are none. Only where
 * tenants look alike: a cloud's block has a thousand of them. Relay ranges are left out: they are known whole.
 */
export function denseExits(lists: readonly RangeList[], systems: PlaceSystems): RangeList | undefined {
  const naming = lists.filter(({ networkClass, provider }) => networkClass === 'vpn' && provider !== PRIVATE_RELAY)
  const ranges = { 4: crowded4(naming, systems), 6: mixed6(naming, systems) }
  if (ranges[4].count + ranges[6].count === 0) return undefined
  return { networkClass: 'vpn', rule: 'density', source: EXIT_DENSITY, trust: TRUST, ranges, ...ours(naming) }
}

/** What a rule of ours is as a list; no rule is newer than the newest list that it was read from. */
function ours(lists: readonly RangeList[]) {
  const date = lists.map((list) => list.date).reduce((newest, day) => (day > newest ? day : newest))
  return { single: false, provider: '', kind: 'ranges', date } as const
}

function crowded4(lists: readonly RangeList[], systems: PlaceSystems): Ranges {
  const exits = new Set<number>()
  for (const { ranges } of lists) if (ranges[4] !== undefined) collectExits(ranges[4], exits)
  const writer = createRangeWriter(4)
  for (const [block, count] of countBlocks(exits, BLOCK)) {
    const first = block * BLOCK
    const last = first + BLOCK - 1
    const isCrowded = (address: number) => count >= (KNOWN_EXITS[systems.at4(address).networkClass] ?? Infinity)
    if (isCrowded(first) && isCrowded(last)) writer.add4(first, last, 1)
  }
  for (const [row, count] of countBlocks(exits, ROW)) {
    const first = row * ROW
    const last = first + ROW - 1
    const isExits = (system: PlaceSystem) =>
      isMixed(system) || (count >= KNOWN_IN_ROW && HOSTS.includes(system.networkClass))
    if (isExits(systems.at4(first)) && isExits(systems.at4(last))) writer.add4(first, last, 1)
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
 * The IPv4 /24s with several proxies that lists of addresses name, as a list of our own that decides no class;
 * `undefined` where there are none. It holds as long as the longest of the lists.
 */
export function proxyNeighbours(lists: readonly RangeList[]): RangeList | undefined {
  const naming = lists.filter(({ networkClass, single }) => networkClass === 'residential_proxy' && single)
  const listed = new Set<number>()
  for (const { ranges } of naming) if (ranges[4] !== undefined) collectExits(ranges[4], listed)
  const writer = createRangeWriter(4)
  for (const [block, count] of countBlocks(listed, BLOCK)) {
    if (count >= LISTED_PROXIES) writer.add4(block * BLOCK, block * BLOCK + BLOCK - 1, 1)
  }
  const ranges = { 4: writer.finish() }
  if (ranges[4].count === 0) return undefined
  const ends = naming.map(({ expires }) => expires).filter((day) => day !== undefined)
  return {
    networkClass: 'residential_proxy',
    rule: 'neighbours',
    source: PROXY_NEIGHBOURS,
    trust: NEIGHBOUR_TRUST,
    ranges,
    ...ours(naming),
    ...(ends.length === 0 ? {} : { expires: Math.max(...ends) }),
  }
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
