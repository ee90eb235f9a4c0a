import type { VerdictRule } from '../values/finding.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'

export interface Grounds {
  readonly rule: VerdictRule
  readonly networkClass: NetworkClass
  /** Rates the trust in the source, 0 to 1; default the rule's own. */
  readonly trust?: number | undefined
  /** True where the list's own prefix is a /24, a /48 or longer. */
  readonly narrow: boolean
  readonly agreeing: number
  readonly contradicted: boolean
  /** The age of the sources leaves this share of the verdict, 0 to 1; default 1. */
  readonly kept?: number | undefined
  /** The loaded lists of exits know this share of today's exits, 0 to 1; default 1. */
  readonly exitsKnown?: number | undefined
  /** Lists know this share of today's residential proxies; 0 where none is loaded. */
  readonly proxiesKnown: number
  /** True where a line may as well be something else, by what is known of its network. */
  readonly inDoubt: boolean
}

/** Rates one source alone. Public lists are right about most of their entries, none about all. */
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

/** Doubt (1 minus confidence) shrinks by these factors. */
const DOUBT = { narrow: 0.8, agreeing: 0.6, maxAgreeing: 3 } as const
const CONTRADICTED = 0.8

/**
 * Residential proxies run on home lines and are in no list of ranges: without proxy data no home line is certain. A line that may be a SIM
 * card's or a machine's has even odds.
 */
const HOME_CEILING = { withoutProxies: 0.6, withProxies: 0.8, inDoubt: 0.5 } as const

/** Old or missing lists of exits take at most this share: an address is no exit only as far as these lists go. */
const MAX_UNSEEN = 0.2

/** Caps a hoster that rents to many: lists of the whole host agree with each other without having seen this address. */
const MIXED_CEILING = 0.6

/**
 * Computes the confidence of a verdict, 0 to 1 in steps of a hundredth, from the source's own worth. Doubt shrinks by a fifth where the
 * prefix is narrow, and by two fifths with each of up to three agreeing sources. A contradiction takes a fifth. Age takes the share that
 * the sources lose; where the class is no exit, the age of the lists of exits takes up to a fifth. More agreement never lowers it, nor does
 * more age raise it.
 */
export function computeConfidence(grounds: Grounds): number {
  const { rule, trust = BASE[rule], narrow, agreeing, contradicted, kept = 1 } = grounds
  if (rule === 'reserved' || rule === 'override') return BASE[rule]
  const doubt = (1 - trust) * (narrow ? DOUBT.narrow : 1) * DOUBT.agreeing ** Math.min(agreeing, DOUBT.maxAgreeing)
  const sure = (1 - doubt) * (contradicted ? CONTRADICTED : 1) * kept * rateExits(grounds)
  return Math.round(Math.min(sure, computeCeiling(grounds)) * 100) / 100
}

function computeCeiling({ rule, networkClass, proxiesKnown, inDoubt }: Grounds): number {
  if (networkClass !== 'residential_clean') return rule === 'mixed_system' ? MIXED_CEILING : 1
  if (inDoubt) return HOME_CEILING.inDoubt
  const { withoutProxies, withProxies } = HOME_CEILING
  return withoutProxies + (withProxies - withoutProxies) * proxiesKnown
}

function rateExits({ networkClass, exitsKnown = 1 }: Grounds): number {
  return anonymises(networkClass) ? 1 : Math.max(1 - MAX_UNSEEN, exitsKnown)
}
