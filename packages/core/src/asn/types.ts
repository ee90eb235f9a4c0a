import { OPERATORS, type OperatorRow } from '@sallyport/data/operators'
import { ORGANISATION_RULES } from '@sallyport/data/organisation-names'
import type { AsType, NetworkClass } from '../vocabulary.ts'
import { compileNameRules } from './name-rules.ts'

/** What an autonomous system is, and what that was read from. */
export interface SystemType {
  readonly type: AsType
  readonly networkClass: NetworkClass
  /** The company's brand as people know it; empty when none is on file. */
  readonly brand: string
  /** `operator`: a row of the operator table; `name`: a rule over the organisation's name; `none`: nothing known. */
  readonly basis: 'operator' | 'name' | 'none'
}

/** The network class of a type when the operator's row does not say another. */
export const DEFAULT_CLASS = {
  hosting: 'hosting',
  isp: 'residential_clean',
  mobile: 'mobile',
  vpn: 'vpn',
  tor: 'tor',
  education: 'unknown',
  government: 'unknown',
  unknown: 'unknown',
} as const satisfies Record<AsType, NetworkClass>

const NOTHING_KNOWN: SystemType = { type: 'unknown', networkClass: 'unknown', brand: '', basis: 'none' }
const BY_ASN: ReadonlyMap<number, OperatorRow> = new Map(OPERATORS.map((row) => [row.asn, row]))
const ruleFor = compileNameRules(ORGANISATION_RULES)

/** The operator table's row of an ASN, with the operator's name where the registered one misleads. */
export function operatorOf(asn: number): OperatorRow | undefined {
  return BY_ASN.get(asn)
}

/**
 * The type of an autonomous system from its number and its organisation's name: the operator table first, then the
 * first name rule that fits, else unknown, which is the normal answer for most small networks (specification:
 * AsnNetworkType).
 */
export function typeOfSystem(asn: number, name: string): SystemType {
  const row = BY_ASN.get(asn)
  if (row !== undefined) {
    const { type, brand = '', networkClass = DEFAULT_CLASS[type] } = row
    return { type, networkClass, brand, basis: 'operator' }
  }
  const rule = ruleFor(name)
  if (rule === undefined) return NOTHING_KNOWN
  return { type: rule.type, networkClass: DEFAULT_CLASS[rule.type], brand: '', basis: 'name' }
}
