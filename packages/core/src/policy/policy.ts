import type { AgentBasis } from '../values/agent-verdict.ts'
import type { Action, AgentClass, CrawlerOutcome, CrawlerPurpose, NetworkClass } from '../vocabulary.ts'

/**
 * What a rule looks at. Members are joined by "and", the values of one member by "or"; an absent member matches all.
 * `crawler`, `operator`, `vendor` and `purpose` are what a request says of itself: a rule that allows matches them only
 * where that is proven, one that flags or blocks matches the bare claim.
 */
export interface Match {
  readonly networkClass?: readonly NetworkClass[] | undefined
  /** Brands of VPN, proxy, Tor, hosting and cloud services, in any case: `iCloud Private Relay`. */
  readonly provider?: readonly string[] | undefined
  /** Two-letter codes of the country the client's address is used in; `unknown` where it is not known. */
  readonly country?: readonly string[] | undefined
  readonly asn?: readonly number[] | undefined
  /** Paths: `/login` is that path alone, `/admin/**` it and all below, `*` within a segment any characters. */
  readonly path?: readonly string[] | undefined
  readonly method?: readonly string[] | undefined
  readonly class?: readonly AgentClass[] | undefined
  /** What the verdict about the agent rests on. */
  readonly basis?: readonly AgentBasis[] | undefined
  /** Browsers without a person in front of them, as far as they say so. */
  readonly headless?: boolean | undefined
  /** How sure the verdict about the agent is, 0 to 1, both bounds within. */
  readonly confidence?: { readonly atLeast?: number | undefined; readonly atMost?: number | undefined } | undefined
  /** Slugs of the crawler catalogue. */
  readonly crawler?: readonly string[] | undefined
  readonly crawlerOutcome?: readonly CrawlerOutcome[] | undefined
  /** Operators of the crawler catalogue. */
  readonly operator?: readonly string[] | undefined
  /** Whose AI it is, as verdicts show it; the case does not count. */
  readonly vendor?: readonly string[] | undefined
  readonly purpose?: readonly CrawlerPurpose[] | undefined
  /** Proven identities: slugs, identifiers of signature agents, or `*` for any. */
  readonly identity?: readonly string[] | undefined
  /** Names of headers, all of which are there (`present`) or none of which is (`absent`). */
  readonly header?:
    | { readonly present?: readonly string[] | undefined; readonly absent?: readonly string[] | undefined }
    | undefined
  readonly time?: TimeSpan | undefined
  /** Ids that the application gave its own users, or `*` for any; no request without one. */
  readonly user?: readonly string[] | undefined
  /** Plans of those users, or `*` for any. */
  readonly plan?: readonly string[] | undefined
}

/** Hours of days: from `from` up to `to`, which may be the next morning; both absent: all day. */
export interface TimeSpan {
  /** `HH:MM`. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** `mon` to `sun`; a span over midnight belongs to the day it begins on. Absent: every day. */
  readonly days?: readonly string[] | undefined
  /** IANA zone name; default UTC. */
  readonly zone?: string | undefined
}

/** One line of a policy: the first whose match holds decides. */
export interface Rule {
  readonly id: string
  readonly match: Match
  readonly action: Action
  /** On trial: what it would do is recorded, and the rules after it decide. */
  readonly monitor?: boolean | undefined
  /**
   * The action where the data that the rule asks about is not loaded and the rest of it matches. Absent: a rule that
   * cannot be answered does not match.
   */
  readonly onError?: Action | undefined
}

export const PRESET_NAMES = [
  'observe',
  'low-friction',
  'protect-content',
  'agents-welcome',
  'jurisdiction-strict',
] as const
export type PresetName = (typeof PRESET_NAMES)[number]

/** A policy as written: the user's rules come first, then those of the preset, then its default. */
export interface Policy {
  readonly preset: PresetName
  readonly rules: readonly Rule[]
  /** The action where no rule matches; default `allow`. */
  readonly default?: Action | undefined
  /** The action where the inspection itself fails; default `allow`. */
  readonly onError?: Action | undefined
  /** CIDRs and addresses that are allowed before any rule, and of which nothing is suspected. */
  readonly allowlist?: readonly string[] | undefined
}
