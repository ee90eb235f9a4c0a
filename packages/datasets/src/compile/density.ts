import { type NetworkClass, PRIVATE_RELAY } from '@sallyport/core'
import { createRangeWriter, type Ranges } from '../ranges/ranges.ts'
import type { RangeList } from './parts.ts'

/**
 * VPN services rent whole rows of machines: where a /24 holds some exits that are known, most of its other tenants are
 * exits too. Of a service that no feed knows it finds up to 2 in a hundred exits (`npm run bench -- accuracy`), which is
 * what can be had without taking other tenants.
 */
const KNOWN_EXITS = 3
const BLOCK = 256
/** How many of the addresses that the rule takes in are thought to be exits. */
const TRUST = 0.7
/** What is longer than this in a list names machines; what is shorter names a network, and says nothing of its like. */
const LARGEST_EXIT_RANGE = 16

/** Only where tenants look alike: a cloud's block has a thousand tenants, a home line has none. */
const DENSE_IN: readonly NetworkClass[] = ['hosting', 'unknown']

/** The id under which the rule is named as a source. */
export const EXIT_DENSITY = 'exit-density'

/**
 * The IPv4 /24s that are crowded with known VPN exits, as a list of our own; `undefined` where there are none. `classOf`
 * gives the class of the system at an address. Relay ranges are left out: they are known whole.
 */
export function denseExits(
  lists: readonly RangeList[],
  classOf: (address: number) => NetworkClass,
): RangeList | undefined {
  const exits = new Set<number>()
  const naming = lists.filter(({ networkClass, provider }) => networkClass === 'vpn' && provider !== PRIVATE_RELAY)
  for (const { ranges } of naming) if (ranges[4] !== undefined) collectExits(ranges[4], exits)
  const counts = new Map<number, number>()
  for (const exit of exits) {
    const block = Math.floor(exit / BLOCK)
    counts.set(block, (counts.get(block) ?? 0) + 1)
  }
  const writer = createRangeWriter(4)
  let found = false
  for (const [block, count] of counts) {
    if (count < KNOWN_EXITS) continue
    const first = block * BLOCK
    const last = first + BLOCK - 1
    if (!DENSE_IN.includes(classOf(first)) || !DENSE_IN.includes(classOf(last))) continue
    writer.add4(first, last, 1)
    found = true
  }
  if (!found) return undefined
  return {
    networkClass: 'vpn',
    single: false,
    provider: '',
    source: EXIT_DENSITY,
    kind: 'ranges',
    rule: 'density',
    trust: TRUST,
    // No rule is newer than the newest list that it was read from.
    date: naming.map(({ date }) => date).reduce((newest, date) => (date > newest ? date : newest)),
    ranges: { 4: writer.finish() },
  }
}

function collectExits({ count, firsts, lasts }: Ranges, exits: Set<number>): void {
  for (let range = 0; range < count; range++) {
    const first = firsts[range] as number
    const last = lasts[range] as number
    if (last - first >= LARGEST_EXIT_RANGE) continue
    for (let exit = first; exit <= last; exit++) exits.add(exit)
  }
}
