import type { VerdictRule } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'

/** What the confidence of a verdict is read from. */
export interface Grounds {
  readonly rule: VerdictRule
  readonly networkClass: NetworkClass
  /** How far the source is believed, 0 to 1; absent: as the rule says. */
  readonly trust?: number
  /** Whether the list's own prefix is a /24, a /48 or longer. */
  readonly narrow: boolean
  /** Further sources that say the same class. */
  readonly agreeing: number
  /** Whether another source says something that cannot be true as well. */
  readonly contradicted: boolean
  /** Days since the source was true; absent when nothing says so. */
  readonly ageDays?: number
  /** Whether any list of residential proxies is loaded. */
  readonly proxiesLoaded: boolean
}

/** What one source is worth by itself. Public lists are right about most of what they hold, none about all. */
const BASE: Readonly<Record<VerdictRule, number>> = {
  reserved: 1,
  override: 1,
  reverse_name: 0.8,
  address_list: 0.95,
  range_list: 0.88,
  exit_density: 0.7,
  operator_table: 0.85,
  organisation_name: 0.7,
  system_list: 0.7,
  system_prefixes: 0.6,
  system_shape: 0.5,
  none: 0,
}

/** How doubt, which is what is missing to 1, shrinks. */
const DOUBT = { narrow: 0.8, agreeing: 0.6, mostAgreeing: 3 } as const
const CONTRADICTED = 0.8

/** Days after which half of what time can take away is gone: addresses change hands sooner than ranges or companies. */
const HALF_LIFE: Readonly<Partial<Record<VerdictRule, number>>> = {
  reverse_name: 30,
  address_list: 30,
  range_list: 365,
  exit_density: 90,
  operator_table: 1825,
  organisation_name: 1825,
  system_list: 365,
  system_prefixes: 365,
  system_shape: 365,
}
/** Time alone takes no more than this share. */
const MOST_AGED = 0.5

/**
 * Residential proxies live on home lines and no range shows them: without proxy data a home line can never be sure.
 */
const HOME_CEILING = { withoutProxies: 0.6, withProxies: 0.8 } as const

/**
 * Confidence of a verdict, 0 to 1 in steps of a hundredth: the source's own worth; doubt shrinks by a fifth where the
 * prefix is narrow and by two fifths with each of up to three sources that agree; a contradiction takes a fifth; age
 * takes up to half, half of that in a half-life of the rule. More agreement never lowers it, nor does more age raise it.
 */
export function confidenceOf(grounds: Grounds): number {
  const { rule, networkClass, trust = BASE[rule], narrow, agreeing, contradicted, ageDays = 0, proxiesLoaded } = grounds
  if (rule === 'reserved' || rule === 'override') return BASE[rule]
  const doubt = (1 - trust) * (narrow ? DOUBT.narrow : 1) * DOUBT.agreeing ** Math.min(agreeing, DOUBT.mostAgreeing)
  const sure = (1 - doubt) * (contradicted ? CONTRADICTED : 1) * fresh(ageDays, HALF_LIFE[rule])
  const ceiling =
    networkClass !== 'residential_clean' ? 1 : proxiesLoaded ? HOME_CEILING.withProxies : HOME_CEILING.withoutProxies
  return Math.round(Math.min(sure, ceiling) * 100) / 100
}

function fresh(days: number, halfLife: number | undefined): number {
  return halfLife === undefined || days <= 0 ? 1 : 1 - MOST_AGED * (1 - 0.5 ** (days / halfLife))
}
