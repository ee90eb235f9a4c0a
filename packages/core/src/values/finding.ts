import type { AsType, NetworkClass } from '../vocabulary.ts'

/** Says how a verdict was reached (specification: Verdict.method). */
export type VerdictMethod = 'reserved' | 'ip_state' | 'asn' | `range:${NetworkClass}`

/** Lists the rules that decide, in more detail than `method`, each with its name inside a sentence. */
export const RULE_TEXTS = {
  reserved: 'a reserved range',
  override: 'set by the operator of this site',
  reverse_name: 'its reverse name',
  address_list: 'a list of addresses',
  range_list: 'a list of ranges',
  exit_density: 'known exits nearby',
  operator_table: 'the operator table',
  mixed_system: 'a hosting company that VPN services and others use',
  organisation_name: "the organisation's name",
  system_list: 'a list of AS numbers',
  system_prefixes: 'listed prefixes of the AS',
  system_shape: 'prefixes and neighbours of the AS, as at a hosting company',
  none: 'no evidence',
} as const
export type VerdictRule = keyof typeof RULE_TEXTS

/** Classifies an address's network, and says how sure that is (specification: Verdict). */
export interface Verdict {
  readonly classification: NetworkClass
  readonly anonymized: boolean
  /** 0 to 1. */
  readonly confidence: number
  readonly method: VerdictMethod
}

/** Says whether an address is reserved (specification: ReservedRange). `label` and `detail` are set only when `reserved` is true. */
export interface ReservedRange {
  readonly reserved: boolean
  readonly label?: string | undefined
  readonly detail?: string | undefined
}

/** Names a source of an answer, and the day on which it was last known to be true, YYYY-MM-DD or YYYY-MM. */
export interface DatedSource {
  readonly source: string
  readonly date: string
}

/** Holds all that the network verdict rests on, for one address. */
export interface NetworkFinding {
  readonly reserved: ReservedRange
  readonly verdict: Verdict
  readonly rule: VerdictRule
  /** Names the VPN, proxy or hosting service; '' when none is known. */
  readonly provider: string
  readonly asType: AsType
  /** Absent when the address is in no autonomous system that the data knows. */
  readonly asn?: number | undefined
  readonly asName?: string | undefined
  readonly asCountry?: string | undefined
  /** Id and date of the source that decided the class; absent when nothing is known. */
  readonly source?: string | undefined
  readonly sourceDate?: string | undefined
  /** The confidence without the share that the age of sources takes; absent where it takes nothing. */
  readonly ageless?: number | undefined
  /** The oldest source that the finding rests on; absent where nothing says how old they are. */
  readonly oldest?: DatedSource | undefined
  /** Names the source that lists proxies beside a home line: the class stands, the risk is higher. */
  readonly near?: string | undefined
  /** Counts the signs that an address of a home line is a machine's; absent where there is none. Two leave its class in doubt. */
  readonly machineSigns?: number | undefined
  /** Lists the ids of further sources with the same class. */
  readonly agreeing: readonly string[]
}
