import { NETWORK_CLASSES, type NetworkClass, type PlainAction } from '../vocabulary.ts'

/** Whether the country that was found fits the claim. */
const RELATIONS = ['match', 'mismatch', 'unknown'] as const
export type Relation = (typeof RELATIONS)[number]

/** The word in a rule's `country` for an address whose country is not known. */
export const UNKNOWN_COUNTRY = 'unknown'

/** Countries that rules and claims may name together. */
export interface JurisdictionGroup {
  /** In capitals for a group that can be claimed; others are for rules alone. */
  readonly id: string
  /** ISO 3166-1, two capital letters. */
  readonly countries: readonly string[]
}

/**
 * The tests of a rule. Members are joined by "and", the values of one member by "or"; an absent member matches all.
 * `claim` and `country` hold country codes and ids of groups.
 */
export interface JurisdictionMatch {
  readonly claim?: readonly string[] | undefined
  /** The country found, or `unknown`. */
  readonly country?: readonly string[] | undefined
  readonly relation?: readonly Relation[] | undefined
  readonly networkClass?: readonly NetworkClass[] | undefined
  readonly anonymized?: boolean | undefined
  /** Whether the address is not publicly routable. */
  readonly reserved?: boolean | undefined
}

/** One line of a policy. Its id is the reason that is recorded. */
export interface JurisdictionRule {
  readonly id: string
  readonly match: JurisdictionMatch
  readonly action: PlainAction
}

/** A jurisdiction policy as it is written, in data/jurisdictions.json or a file of the user's: the first rule decides. */
export interface JurisdictionPolicy {
  readonly id: string
  readonly groups: readonly JurisdictionGroup[]
  readonly rules: readonly JurisdictionRule[]
}

/** Members of a rule's match and what their lists may hold beyond groups and countries. */
export const MATCH_LISTS = {
  claim: [],
  country: [UNKNOWN_COUNTRY],
  relation: RELATIONS,
  networkClass: NETWORK_CLASSES,
} as const satisfies Partial<Record<keyof JurisdictionMatch, readonly string[]>>

export const MATCH_SWITCHES = ['anonymized', 'reserved'] as const satisfies readonly (keyof JurisdictionMatch)[]
