import type { DatedRanges } from './crawlers.ts'
import rows from './shipped-ranges.json' with { type: 'json' }

/** Exits of a relay, or SIM cards of a carrier that has lines under the same number, in blocks: what is known before the first download. */
export interface ShippedRanges extends DatedRanges {
  /** The operator's own feed has the same provider. */
  readonly provider: string
  readonly networkClass: 'vpn' | 'mobile'
  readonly source: string
}

export const SHIPPED_BY_CLASS: readonly ShippedRanges[] = rows as readonly ShippedRanges[]
