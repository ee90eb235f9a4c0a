import type { VerdictRule } from '../values/finding.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'

/** Grounds of a verdict's confidence. */
export interface Grounds {
  readonly rule: VerdictRule
  readonly networkClass: NetworkClass
  /** Trust in the source, 0 to 1; absent: the rule's own. */
  readonly trust?: number | undefined
  /** Whether the list's own prefix is a /24, a /48 or longer. */
  readonly narrow: boolean
  /** Further sources that say the same class. */
  readonly agreeing: number
  /** Whether another source says something incompatible. */
  readonly contradicted: boolean
  /** Days since the source was true; absent when nothing says so. */
  readonly ageDays?: number | undefined
  /** Days since lists of exits (Tor, VPN) were last known to be true; absent where none is loaded or nothing says so. */
  readonly exitsAgeDays?: number | undefined
  /** Whether any list of residential proxies is loaded. */
  readonly proxiesLoaded: boolean
}

/** Confidence in one source alone. Public lists are right about most of what they hold, none about all. */
const BASE: Readonly<Record<VerdictRule, number>> = {
  reserved: 1,
  override: 1,
  reverse_name: 0.8,
  address_list: 0.95,
  range_list: 0.88,
  exit_density: 0.7,
  operator_table: 0.85,
  mixed_system: 0.55,
  organisation_name: 0.7,
  system_list: 0.7,
  system_prefixes: 0.6,
  system_shape: 0.5,
  none: 0,
}

/** Factors by which doubt (1 minus confidence) shrinks. */
const DOUBT = { narrow: 0.8, agreeing: 0.6, maxAgreeing: 3 } as const
const CONTRADICTED = 0.8

/** Half-life in days of what age can take away: addresses change hands sooner than ranges or companies. */
const HALF_LIFE: Readonly<Partial<Record<VerdictRule, number>>> = {
  reverse_name: 30,
  address_list: 30,
  range_list: 365,
  exit_density: 90,
  operator_table: 1825,
  mixed_system: 1825,
  organisation_name: 1825,
  system_list: 365,
  system_prefixes: 365,
  system_shape: 365,
}
/** The most that age takes away. */
const MAX_AGED = 0.5

/**
 * Residential proxies are on home lines and in no list of ranges: without proxy data no home line is certain.
 */
const HOME_CEILING = { withoutProxies: 0.6, withProxies: 0.8 } as const

/**
 * An address is no exit only as far as lists of exits go, and those lose some of theirs each day: after three months a
 * third of Tor's exits are others. A week is not noticed, then up to a fifth is lost, half of that in a quarter of a
 * year (D191).
 */
const UNSEEN = { freeDays: 7, halfLife: 90, most: 0.2 } as const

/** For a hoster that rents to many: lists of the whole host agree with each other without having seen this address. */
const MIXED_CEILING = 0.6

/**
 * Confidence of a verdict, 0 to 1 in steps of a hundredth: the source's own worth; doubt shrinks by a fifth where the
 * prefix is narrow and by two fifths with each of up to three sources that agree; a contradiction takes a fifth; age
 * takes up to half, half of that in a half-life of the rule, and the age of the lists of exits up to a fifth of what is none. More agreement never lowers it, nor does more age raise it.
 */
export function confidenceOf(grounds: Grounds): number {
  const { rule, networkClass, trust = BASE[rule], narrow, agreeing, contradicted, ageDays = 0, proxiesLoaded } = grounds
  if (rule === 'reserved' || rule === 'override') return BASE[rule]
  const doubt = (1 - trust) * (narrow ? DOUBT.narrow : 1) * DOUBT.agreeing ** Math.min(agreeing, DOUBT.maxAgreeing)
  const sure = (1 - doubt) * (contradicted ? CONTRADICTED : 1) * fresh(ageDays, HALF_LIFE[rule]) * seen(grounds)
  return Math.round(Math.min(sure, ceilingOf(rule, networkClass, proxiesLoaded)) * 100) / 100
}

function ceilingOf(rule: VerdictRule, networkClass: NetworkClass, proxiesLoaded: boolean): number {
  if (rule === 'mixed_system') return MIXED_CEILING
  if (networkClass !== 'residential_clean') return 1
  return proxiesLoaded ? HOME_CEILING.withProxies : HOME_CEILING.withoutProxies
}

function seen({ networkClass, exitsAgeDays = 0 }: Grounds): number {
  const days = exitsAgeDays - UNSEEN.freeDays
  return anonymises(networkClass) || days <= 0 ? 1 : 1 - UNSEEN.most * (1 - 0.5 ** (days / UNSEEN.halfLife))
}

function fresh(days: number, halfLife: number | undefined): number {
  return halfLife === undefined || days <= 0 ? 1 : 1 - MAX_AGED * (1 - 0.5 ** (days / halfLife))
}
