import type { ReservedRange } from '../values/finding.ts'

/**
 * These ranges are no internal network. Addresses of some contain an IPv4 address, which may be anybody's: a translator or a tunnel wrote
 * it. Class E contains IPv6 visitors as some delivery networks write them for old programs, and `::/96` any IPv4 address. Nobody sends from
 * multicast and from space that IANA has not assigned.
 */
const OUTSIDE: ReadonlySet<string> = new Set([
  'nat64',
  '6to4',
  'teredo',
  'reserved',
  'broadcast',
  'multicast',
  'unallocated',
])

/** Reports whether an address is within an internal network: reserved, and not a visitor of the Internet as a translator writes it. */
export function isInternal({ reserved, label = '' }: ReservedRange): boolean {
  return reserved && !OUTSIDE.has(label)
}
