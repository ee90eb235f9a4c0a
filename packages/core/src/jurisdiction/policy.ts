import { NETWORK_CLASSES, type NetworkClass, type PlainAction } from '../vocabulary.ts'

const RELATIONS = ['match', 'mismatch', 'unknown'] as const
export type Relation = (typeof RELATIONS)[number]

/** A rule's `country` has this word for an address whose country is not known. */
export const UNKNOWN_COUNTRY = 'unknown'

/** Rules and claims may name these countries together. */
export interface JurisdictionGroup {
  /** An id in capitals can be claimed; other groups are for rules alone. */
  readonly id: string
  /** Countries have two capital letters (ISO 3166-1). */
  readonly countries: readonly string[]
}

/**
 * Holds the tests of a rule. Members are joined by "and", the values of one member by "or"; an absent member matches all. `claim` and
 * `country` hold country codes and ids of groups.
 */
export interface JurisdictionMatch {
  readonly claim?: readonly string[] | undefined
  /** Matches the country that was found, or `unknown`. */
  readonly country?: readonly string[] | undefined
  readonly relation?: readonly Relation[] | undefined
  readonly networkClass?: readonly NetworkClass[] | undefined
  readonly anonymized?: boolean | undefined
  /** True where the address is not publicly routable. */
  readonly reserved?: boolean | undefined
}

/** One line of a policy. Records give its id as the reason. */
export interface JurisdictionRule {
  readonly id: string
  readonly match: JurisdictionMatch
  readonly action: PlainAction
}

/** A jurisdiction policy as written, in data/jurisdictions.json or a file of the user's: the first matching rule decides. */
export interface JurisdictionPolicy {
  readonly id: string
  readonly groups: readonly JurisdictionGroup[]
  readonly rules: readonly JurisdictionRule[]
}

/** Lists what a rule's match may contain, by member, beyond groups and countries. */
export const MATCH_LISTS = {
  claim: [],
  country: [UNKNOWN_COUNTRY],
  relation: RELATIONS,
  networkClass: NETWORK_CLASSES,
} as const satisfies Partial<Record<keyof JurisdictionMatch, readonly string[]>>

export const MATCH_SWITCHES = ['anonymized', 'reserved'] as const satisfies readonly (keyof JurisdictionMatch)[]
