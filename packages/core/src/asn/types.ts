import { ANYCAST, FIXED_AND_MOBILE, OPERATORS, type OperatorRow } from '@sallyport/data/operators'
import { ORGANISATION_RULES } from '@sallyport/data/organisation-names'
import { lazily } from '../lazily.ts'
import type { AutonomousSystem } from '../ports/index.ts'
import type { AsType, NetworkClass } from '../vocabulary.ts'
import { judgeSystem, looksLikeAccess, type SystemEvidence } from './evidence.ts'
import { looksLikeHosting, type NamedType } from './host-likeness.ts'
import { compileNameRules } from './name-rules.ts'

/** Holds the type of an autonomous system, and says how it is known. */
export type SystemType = Omit<AutonomousSystem, 'asn' | 'name' | 'country'>

/** A type has this network class unless the operator's row names another. */
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

export const findNameRule = (name: string): NamedType | undefined => nameRules()(name)

/**
 * Treats a host from which VPN services rent as theirs, in doubt (`isMixed`). Lists add hosts to those of the operator table and remove
 * none: a service without an exit in a host says nothing about other services.
 */
export function asRented(system: SystemType, rented: boolean): SystemType {
  const isPlainHost = system.type === 'hosting' && system.networkClass === 'hosting'
  return rented && isPlainHost ? { ...system, networkClass: 'vpn' } : system
}

/** Finds the operator table's row of an ASN, with the operator's name where the registered name misleads. */
export function findOperator(asn: number): OperatorRow | undefined {
  return BY_ASN.get(asn)
}

/** Reports whether a carrier has home lines and SIM cards under this number: its addresses are either, and nothing says which. */
export function hasLinesAndSims(asn: number): boolean {
  return BY_ASN.get(asn)?.source === FIXED_AND_MOBILE
}

/** Reports whether each address of a system is at many places at once. */
export function isAnycast(asn: number): boolean {
  return BY_ASN.get(asn)?.source === ANYCAST
}

/**
 * Returns the type of an autonomous system. The operator table decides first, then the first matching name rule, unless the evidence
 * overrules it (`judgeSystem`) or a weak rule lacks a second sign. Otherwise the evidence decides, else the type is unknown, as for most
 * small networks (specification: AsnNetworkType).
 */
export function findSystemType(asn: number, name: string, evidence?: SystemEvidence): SystemType {
  return typeByRule(asn, findNameRule(name), evidence)
}

/** Returns the same type by a known rule: each of a hundred thousand names is matched once. */
export function typeByRule(asn: number, rule: NamedType | undefined, evidence?: SystemEvidence): SystemType {
  return asRented(findOwnType(asn, rule, evidence), evidence?.rented === true)
}

function findOwnType(asn: number, rule: NamedType | undefined, evidence: SystemEvidence | undefined): SystemType {
  const row = BY_ASN.get(asn)
  if (row !== undefined) {
    const { type, brand = '', networkClass = DEFAULT_CLASS[type] } = row
    // A visitor never comes from a Tor operator's relays that are no exits; without a list all count as exits.
    const isListed = networkClass === 'tor' && evidence?.torListed === true
    return { type, networkClass: isListed ? 'hosting' : networkClass, brand, basis: 'operator' }
  }
  const read = evidence === undefined ? undefined : judgeSystem(asn, evidence, rule)
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
