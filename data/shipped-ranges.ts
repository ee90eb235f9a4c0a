import rows from './shipped-ranges.json' with { type: 'json' }

/** Exits of a relay, or SIM cards of a carrier that has lines under the same number, in blocks: what is known before the first download. */
export interface ShippedRanges {
  /** Stable name. */
  readonly id: string
  /** The operator's own feed has the same provider. */
  readonly provider: string
  readonly networkClass: 'vpn' | 'mobile'
  /** The day the prefixes were true, YYYY-MM-DD. */
  readonly date: string
  readonly source: string
  /** Prefixes are CIDRs with host bits zero. */
  readonly prefixes: readonly string[]
}

export const SHIPPED_BY_CLASS: readonly ShippedRanges[] = rows as readonly ShippedRanges[]
