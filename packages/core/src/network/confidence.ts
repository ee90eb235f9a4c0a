import type { ListKind } from '@sallyport/data/list-ages'
import type { VerdictRule } from '../values/finding.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'
import { shareKept } from './ages.ts'

/** Days since the newest list of Tor's exits, and of VPN services', was known to be true. */
export interface ExitAges {
  readonly tor?: number | undefined
  readonly vpn?: number | undefined
}

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
  /** Kind by which the source ages; absent for what does not. */
  readonly kind?: ListKind | undefined
  /** Days since the source was true; absent when nothing says so. */
  readonly ageDays?: number | undefined
  /** Days since lists of exits were last known to be true; absent where none is loaded or nothing says so. */
  readonly exitAges?: ExitAges | undefined
  /** Whether any list of residential proxies is loaded. */
  readonly proxiesLoaded: boolean
  /** Whether a line may as well be something else, by what is known of its network. */
  readonly inDoubt: boolean
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

/**
 * Residential proxies are on home lines and in no list of ranges: without proxy data no home line is certain. A line that may be
 * a SIM card's or a machine's is even odds.
 */
const HOME_CEILING = { withoutProxies: 0.6, withProxies: 0.8, inDoubt: 0.5 } as const

/**
 * The most that the age of lists of exits takes: an address is no exit only as far as those go, and they lose some of theirs
 * each day.
 */
const MAX_UNSEEN = 0.2

/** For a hoster that rents to many: lists of the whole host agree with each other without having seen this address. */
const MIXED_CEILING = 0.6

/**
 * Confidence of a verdict, 0 to 1 in steps of a hundredth: the source's own worth; doubt shrinks by a fifth where the
 * prefix is narrow and by two fifths with each of up to three sources that agree; a contradiction takes a fifth; age takes the
 * share of its entries that such a list loses, and the age of the lists of exits as much, a fifth at most, of what is none. More
 * agreement never lowers it, nor does more age raise it.
 */
export function confidenceOf(grounds: Grounds): number {
  const { rule, trust = BASE[rule], narrow, agreeing, contradicted, kind, ageDays = 0 } = grounds
  if (rule === 'reserved' || rule === 'override') return BASE[rule]
  const doubt = (1 - trust) * (narrow ? DOUBT.narrow : 1) * DOUBT.agreeing ** Math.min(agreeing, DOUBT.maxAgreeing)
  const fresh = kind === undefined ? 1 : shareKept(kind, ageDays)
  const sure = (1 - doubt) * (contradicted ? CONTRADICTED : 1) * fresh * seen(grounds)
  return Math.round(Math.min(sure, ceilingOf(grounds)) * 100) / 100
}

function ceilingOf({ rule, networkClass, proxiesLoaded, inDoubt }: Grounds): number {
  if (networkClass !== 'residential_clean') return rule === 'mixed_system' ? MIXED_CEILING : 1
  if (inDoubt) return HOME_CEILING.inDoubt
  return proxiesLoaded ? HOME_CEILING.withProxies : HOME_CEILING.withoutProxies
}

function seen({ networkClass, exitAges: { tor = 0, vpn = 0 } = {} }: Grounds): number {
  return anonymises(networkClass)
    ? 1
    : Math.max(1 - MAX_UNSEEN, Math.min(shareKept('tor', tor), shareKept('service', vpn)))
}
