import type { ReservedRange } from '../values/finding.ts'

/** Ranges whose addresses hold an IPv4 one, which may be anybody's: a translator or a tunnel wrote it (D655). */
const HOLDING: ReadonlySet<string> = new Set(['nat64', '6to4', 'teredo'])

/** Whether an address is within somebody's own network: reserved, and not that of a visitor of the Internet as a translator writes it. */
export function isInternal({ reserved, label = '' }: ReservedRange): boolean {
  return reserved && !HOLDING.has(label)
}
