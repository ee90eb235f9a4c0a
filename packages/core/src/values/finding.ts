import type { AsType, NetworkClass } from '../vocabulary.ts'

/** Method of a verdict (specification: Verdict.method). */
export type VerdictMethod = 'reserved' | 'ip_state' | 'asn' | `range:${NetworkClass}`

/**
 * The rule that decided, in more detail than `method` says it: a special-purpose registry, `sallyport ip set`, the address's
 * own reverse name, a list of addresses, a list of ranges, exits crowded in one prefix, a row of the operator table, exits of
 * several services in a host, a rule over the organisation's name, a list of systems, what lists say of the system's prefixes, its
 * likeness to hosts; `none` where nothing is known.
 */
export const VERDICT_RULES = [
  'reserved',
  'override',
  'reverse_name',
  'address_list',
  'range_list',
  'exit_density',
  'operator_table',
  'mixed_system',
  'organisation_name',
  'system_list',
  'system_prefixes',
  'system_shape',
  'none',
] as const
export type VerdictRule = (typeof VERDICT_RULES)[number]

/** Class of an address's network, and how sure that is (specification: Verdict). */
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
  readonly label?: string | undefined
  readonly detail?: string | undefined
}

/** All that the network verdict rests on, for one address. */
export interface NetworkFinding {
  readonly reserved: ReservedRange
  readonly verdict: Verdict
  readonly rule: VerdictRule
  /** Brand of the VPN, proxy or hosting service; '' when none is known. */
  readonly provider: string
  readonly asType: AsType
  /** Absent when the address is in no autonomous system that the data knows. */
  readonly asn?: number | undefined
  readonly asName?: string | undefined
  readonly asCountry?: string | undefined
  /** Id and date of the source that decided the class; absent when nothing is known. */
  readonly source?: string | undefined
  readonly sourceDate?: string | undefined
  /** Id of the source that lists proxies beside a home line: the class stands, the risk is higher. */
  readonly near?: string | undefined
  /** Number of signs that an address of a home line is a machine's; absent where there is none. Two leave its class in doubt. */
  readonly machineSigns?: number | undefined
  /** Ids of further sources that say the same class of this address. */
  readonly agreeing: readonly string[]
}
