import type { ChallengeLevel } from '../values/challenge.ts'
import type { CountedAnswers, CountKey, CountKind } from '../values/counting.ts'
import type { Action, PlainAction } from '../vocabulary.ts'
import type { Match } from './words/match-words.ts'

/** The number of requests, failures or pages that a window admits. */
export interface RuleLimit {
  /** Key of the count; several together are one key. */
  readonly key: CountKey | readonly CountKey[]
  readonly max: number
  /** As `1s`, `5m`, `1h` or `1d`, at most a month; a number is milliseconds. */
  readonly window: string | number
  /**
   * Default: every request. `failure`: those whose answer has a status of `failures`. `page`: those that are answered with a page,
   * a status of 200 to 299 and HTML or Markdown. A request in flight counts until its answer is known.
   */
  readonly count?: CountedAnswers | undefined
  /** Statuses that are a failure; default those of the policy. */
  readonly failures?: readonly number[] | undefined
  /** Default `sliding`. */
  readonly kind?: CountKind | undefined
  /** Refill of a bucket in a window; default `max`. */
  readonly refill?: number | undefined
  /** Size of a bucket; default `max`. */
  readonly burst?: number | undefined
}

/** The challenge of a rule. */
export interface RuleChallenge {
  /** Level of the pass that answers it, 1 to 3: a wait, work, four times that work. Default 1. */
  readonly level?: ChallengeLevel | undefined
  /** How long the pass holds, as `12h`; a number is milliseconds. Default 12 hours. */
  readonly pass?: string | number | undefined
  /** No pass is given to clients that wait in place of the work. */
  readonly script?: 'required' | undefined
}

/** How many requests may be in flight: of all together, or of each key. */
export type RuleConcurrent = number | { readonly key: CountKey | readonly CountKey[]; readonly max: number }

/** Cost of a request: a number, or one by method or path pattern; the first that fits counts, else 1. */
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
  /** For a rule with the action `challenge`, which decides nothing for a client that holds a pass of its level. */
  readonly challenge?: RuleChallenge | undefined
  /**
   * Place that a rule with the action `redirect` leads proven crawlers to: a path of the site or an http URL, in which
   * `{path}` stands for the canonical path of the request.
   */
  readonly to?: string | undefined
  /**
   * Weight of a sign: a rule that flags adds it to the sum that `match: { weight }` reads, and the rules after it decide;
   * where none does, the request is flagged.
   */
  readonly weight?: number | undefined
  /** Permits a rule that allows to rest on unproven claims, but never on a disproved one. */
  readonly trustClaim?: boolean | undefined
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
  /**
   * `flagged`, `throttled`, `blocked`, `decoy`, `status:401` for a status of the origin's answer, and `challenge_failed` for a
   * solution that is wrong, forged or spent.
   */
  readonly on: readonly string[]
  /** Answer to a banned client: default `block`. `challenge`: it is asked, and a pass lifts the ban. */
  readonly then?: StrikesAction | undefined
  /** How long a ban is, as `15m`. */
  readonly for: string | number
}

export const STRIKE_KEYS = ['client', 'address', 'user'] as const
export type StrikeKey = (typeof STRIKE_KEYS)[number]

export const STRIKES_ACTIONS = ['block', 'challenge'] as const
export type StrikesAction = (typeof STRIKES_ACTIONS)[number]

/** Rules that count, ready to be named. */
export const LIMIT_PRESET_NAMES = ['polite-crawlers', 'login-guard', 'api-fair-use', 'scanner-guard'] as const
export type LimitPresetName = (typeof LIMIT_PRESET_NAMES)[number]

export const PRESET_NAMES = [
  'observe',
  'low-friction',
  'protect-content',
  'agents-welcome',
  'jurisdiction-strict',
  'stop-scrapers',
  'under-attack',
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
  /** Statuses that are a failure for limits that count those; default 401, 403 and 422. */
  readonly failures?: readonly number[] | undefined
  readonly strikes?: Strikes | undefined
  /** CIDRs and addresses that are allowed before any rule, and of which nothing is suspected. */
  readonly allowlist?: readonly string[] | undefined
}

/**
 * Policy of one mount: a preset by name, rules that come before the preset `low-friction`, or a policy. The
 * allowlist and the strikes are the service's.
 */
export type MountPolicy = PresetName | readonly Rule[] | Partial<Omit<Policy, 'allowlist' | 'strikes'>>
