import type { AsType, NetworkClass } from '../vocabulary.ts'

/** What produced a verdict (specification: Verdict.method). */
export type VerdictMethod = 'reserved' | 'ip_state' | 'asn' | `range:${NetworkClass}`

export interface Verdict {
  readonly classification: NetworkClass
  readonly anonymized: boolean
  /** 0 to 1. */
  readonly confidence: number
  readonly method: VerdictMethod
}

/** Specification: ReservedRange. `label` and `detail` are there only when `reserved` is true. */
export interface ReservedRange {
  readonly reserved: boolean
  readonly label?: string
  readonly detail?: string
}

/** All that the network verdict rests on, for one address. */
export interface NetworkFinding {
  readonly reserved: ReservedRange
  readonly verdict: Verdict
  /** Brand of the VPN, proxy or hosting service; '' when none is known. */
  readonly provider: string
  readonly asType: AsType
  /** Absent when the address is in no autonomous system that the data knows. */
  readonly asn?: number
  readonly asName?: string
  readonly asCountry?: string
  /** Id and date of the source that decided the class; absent when nothing is known. */
  readonly source?: string
  readonly sourceDate?: string
}
