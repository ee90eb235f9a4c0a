import { FIXED_AND_MOBILE, OPERATORS, type OperatorRow } from '@sallyport/data/operators'
import { ORGANISATION_RULES } from '@sallyport/data/organisation-names'
import { lazily } from '../lazily.ts'
import type { SystemBasis } from '../ports/index.ts'
import type { AsType, NetworkClass } from '../vocabulary.ts'
import { looksLikeAccess, type SystemEvidence, typeOfEvidence } from './evidence.ts'
import { looksLikeHosting, type NamedType } from './host-likeness.ts'
import { compileNameRules } from './name-rules.ts'

/** The type of an autonomous system, and its source. */
export interface SystemType {
  readonly type: AsType
  readonly networkClass: NetworkClass
  /** The company's brand as people know it; empty when none is on file. */
  readonly brand: string
  readonly basis: SystemBasis
  /** Id of the list that the type was read from, where `basis` is `list`. */
  readonly list?: string | undefined
  /** True of one that sells access by its name, and would be taken for a host if that said nothing. */
  readonly hostLike?: true | undefined
}

/** The network class of a type when the operator's row does not say another. */
const DEFAULT_CLASS = {
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
const nameRules = lazily(() => compileNameRules(ORGANISATION_RULES))

/** The rule that a name fits. */
export const ruleOfName = (name: string): NamedType | undefined => nameRules()(name)

/**
 * A host that VPN services rent from, as others do: it is taken for theirs, in doubt (`isMixed`). What a row says of a host's
 * tenants is of its day, and holds where lists do not know: `rented` is undefined. Other systems stay as they are.
 */
export function asRented(system: SystemType, rented: boolean | undefined): SystemType {
  if (system.type !== 'hosting' || rented === undefined) return system
  const [before, after] = rented ? (['hosting', 'vpn'] as const) : (['vpn', 'hosting'] as const)
  return system.networkClass === before ? { ...system, networkClass: after } : system
}

/** The operator table's row of an ASN, with the operator's name where the registered one misleads. */
export function operatorOf(asn: number): OperatorRow | undefined {
  return BY_ASN.get(asn)
}

/** Whether a carrier has home lines and SIM cards under this number: its addresses are either, and nothing says which. */
export function hasLinesAndSims(asn: number): boolean {
  return BY_ASN.get(asn)?.source === FIXED_AND_MOBILE
}

/**
 * The type of an autonomous system: the operator table first, then the first name rule that fits, unless the evidence
 * says better (`typeOfEvidence`) or a weak rule has nothing beside it, then the evidence, else unknown, which is the normal answer for most small networks
 * (specification: AsnNetworkType).
 */
export function typeOfSystem(asn: number, name: string, evidence?: SystemEvidence): SystemType {
  return typeByRule(asn, ruleOfName(name), evidence)
}

/** The same where the rule of its name is known: rules are asked once for each of a hundred thousand names. */
export function typeByRule(asn: number, rule: NamedType | undefined, evidence?: SystemEvidence): SystemType {
  return asRented(typeOfOne(asn, rule, evidence), evidence?.rented)
}

function typeOfOne(asn: number, rule: NamedType | undefined, evidence: SystemEvidence | undefined): SystemType {
  const row = BY_ASN.get(asn)
  if (row !== undefined) {
    const { type, brand = '', networkClass = DEFAULT_CLASS[type] } = row
    // A Tor operator's relays that are no exits are never a visitor's address; without a list all are taken for exits.
    const isListed = networkClass === 'tor' && evidence?.torListed === true
    return { type, networkClass: isListed ? 'hosting' : networkClass, brand, basis: 'operator' }
  }
  const read = evidence === undefined ? undefined : typeOfEvidence(asn, evidence, rule)
  if (read !== undefined) return { ...read, networkClass: DEFAULT_CLASS[read.type], brand: '' }
  const isDoubtful = rule?.weak === true && evidence !== undefined && !looksLikeAccess(evidence)
  if (rule === undefined || isDoubtful) return NOTHING_KNOWN
  const isHostLike = rule.type === 'isp' && evidence !== undefined && looksLikeHosting({ asn, shape: evidence.shape })
  return {
    type: rule.type,
    networkClass: DEFAULT_CLASS[rule.type],
    brand: '',
    basis: 'name',
    ...(isHostLike && { hostLike: true }),
  }
}
