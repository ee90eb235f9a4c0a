import type { Inspection } from '../values/inspection.ts'
import type { Degraded } from '../vocabulary.ts'

/**
 * Whether an inspection lacks the data that a word asks about. A country may be known where places are not, and a reserved
 * address has none, whatever is loaded.
 */
export function lacks({ degraded, country, network }: Inspection, need: Degraded): boolean {
  const isKnown = need === 'geo' && (country !== undefined || network.reserved.reserved)
  return !isKnown && degraded.includes(need)
}
