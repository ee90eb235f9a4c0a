import type { AgentBasis } from '../values/agent-verdict.ts'
import type { CountKey, CountKind } from '../values/counting.ts'
import type { Action, AgentClass, CrawlerOutcome, CrawlerPurpose, NetworkClass, PlainAction } from '../vocabulary.ts'

/**
 * What a rule looks at. Members are joined by "and", the values of one member by "or"; an absent member matches all.
 * `crawler`, `operator`, `vendor` and `purpose` are what a request says of itself: a rule that allows matches them only
 * where that is proven, one that flags or blocks matches the bare claim.
 */
export interface Match {
  readonly networkClass?: readonly NetworkClass[] | undefined
  /** How sure the verdict about the network is, 0 to 1, both bounds within. */
  readonly networkConfidence?: Bounds | undefined
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
  readonly confidence?: Bounds | undefined
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

/** Both bounds within; an absent one bounds nothing. */
export interface Bounds {
  readonly atLeast?: number | undefined
  readonly atMost?: number | undefined
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

/** How many requests fit into how long. */
export interface RuleLimit {
  /** What is counted apart; several together are one key. */
  readonly key: CountKey | readonly CountKey[]
  readonly max: number
  /** As `1s`, `5m`, `1h` or `1d`, at most a month; a number is milliseconds. */
  readonly window: string | number
  /** Default `sliding`. */
  readonly kind?: CountKind | undefined
  /** Of a bucket: what flows back in a window; default `max`. */
  readonly refill?: number | undefined
  /** Of a bucket: what fits at once; default `max`. */
  readonly burst?: number | undefined
}

/** How many requests may be in flight: of all together, or of each key. */
export type RuleConcurrent = number | { readonly key: CountKey | readonly CountKey[]; readonly max: number }

/** What a request costs: a number, or one by method or path pattern; the first that fits counts, else 1. */
export type RuleCost = number | Readonly<Record<string, number>>

/**
 * One line of a policy: the first whose match holds decides. A rule with `limit` or `concurrent` counts: within it the rules
 * after it decide, unless it says `then: allow`; beyond it `action` is what is done.
 */
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
  readonly onError?: PlainAction | undefined
  readonly limit?: RuleLimit | undefined
  readonly concurrent?: RuleConcurrent | undefined
  readonly cost?: RuleCost | undefined
  /** Within its limits it allows, and no rule after it is asked. */
  readonly then?: 'allow' | undefined
}

/** Clients that are refused for a while, for what they did before. */
export interface Strikes {
  /**
   * `client`: the address, or a network of IPv6; where many share it, as behind carrier NAT or a VPN, the address with the
   * headers of the browser. `address`: always the whole. Default `client`.
   */
  readonly key?: StrikeKey | undefined
  /** So many strikes within `window` ban. */
  readonly count: number
  readonly window: string | number
  /** `flagged`, `throttled`, `blocked`, and `status:401` for a status of the origin's answer. */
  readonly on: readonly string[]
  /** How long a ban is, as `15m`. */
  readonly for: string | number
}

export const STRIKE_KEYS = ['client', 'address', 'user'] as const
export type StrikeKey = (typeof STRIKE_KEYS)[number]

/** Rules that count, ready to be named. */
export const LIMIT_PRESET_NAMES = ['polite-crawlers', 'login-guard', 'api-fair-use'] as const
export type LimitPresetName = (typeof LIMIT_PRESET_NAMES)[number]

export const PRESET_NAMES = [
  'observe',
  'low-friction',
  'protect-content',
  'agents-welcome',
  'jurisdiction-strict',
] as const
/** A policy that comes with Sallyport, by name: the key `policy.preset`, or the `policy` of a mount. */
export type PresetName = (typeof PRESET_NAMES)[number]

/** A policy as written: the user's rules come first, then those of `limits`, those of the preset, and its default. */
export interface Policy {
  readonly preset: PresetName
  readonly rules: readonly Rule[]
  /** The action where no rule matches; default `allow`. */
  readonly default?: PlainAction | undefined
  /** The action where the inspection itself fails; default `allow`. */
  readonly onError?: PlainAction | undefined
  readonly limits?: readonly LimitPresetName[] | undefined
  readonly strikes?: Strikes | undefined
  /** CIDRs and addresses that are allowed before any rule, and of which nothing is suspected. */
  readonly allowlist?: readonly string[] | undefined
}

/**
 * What decides at one mount: a preset by name, rules that come before the preset `low-friction`, or a policy. The
 * allowlist and the strikes are the service's.
 */
export type MountPolicy = PresetName | readonly Rule[] | Partial<Omit<Policy, 'allowlist' | 'strikes'>>
