import type { ReservedRange } from '../values/finding.ts'

/**
 * Ranges that are no network of a house. Addresses of some hold an IPv4 one, which may be anybody's: a translator or a tunnel wrote
 * it. Class E holds IPv6 visitors as some delivery networks write them for old programs, `::/96` any IPv4 address, and from
 * multicast and what IANA has not given out nobody sends.
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

/** Whether an address is within somebody's own network: reserved, and not that of a visitor of the Internet as a translator writes it. */
export function isInternal({ reserved, label = '' }: ReservedRange): boolean {
  return reserved && !OUTSIDE.has(label)
}
