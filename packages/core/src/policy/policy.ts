import type { ChallengeLevel } from '../values/challenge.ts'
import type { CountedAnswers, CountKey, CountKind } from '../values/counting.ts'
import type { Offer } from '../values/offer.ts'
import type { UnknownRegion } from '../values/region.ts'
import type { Action, PlainAction } from '../vocabulary.ts'
import type { Match } from './words/match-words.ts'

/** Limits how many requests, failures or pages a window admits. */
export interface RuleLimit {
  /** Requests are counted by this key; several together are one key. */
  readonly key: CountKey | readonly CountKey[]
  readonly max: number
  /** As `1s`, `5m`, `1h` or `1d`, at most a month; a number is milliseconds. */
  readonly window: string | number
  /**
   * Selects what is counted; default every request. `failure`: requests whose response has a status of `failures`. `page`: requests
   * answered with a page, a status of 200 to 299 and HTML or Markdown. A request in flight counts until its response is known.
   */
  readonly count?: CountedAnswers | undefined
  /** Statuses that are a failure; default those of the policy. */
  readonly failures?: readonly number[] | undefined
  /** Counts only failures beyond this share of attempts, above 0 and below 1; for events alone, as a request has no account. */
  readonly share?: number | undefined
  /** Default `sliding`. */
  readonly kind?: CountKind | undefined
  /** Sets the size of a bucket; default `max`. */
  readonly burst?: number | undefined
}

/** Describes how a rule challenges. */
export interface RuleChallenge {
  /** Sets the level of the pass that answers it, 1 to 3: a wait, work, four times that work. Default 1. */
  readonly level?: ChallengeLevel | undefined
  /** Sets how long the pass is valid, as `12h`; a number is milliseconds. Default 12 hours. */
  readonly pass?: string | number | undefined
  /** Gives no pass to clients that wait in place of the work. */
  readonly script?: 'required' | undefined
}

/** Limits the requests in flight: of all together, or of each key. */
export type RuleConcurrent = number | { readonly key: CountKey | readonly CountKey[]; readonly max: number }

/** Sets the cost of a request: a number, or a number by method or path pattern; the first match counts, else 1. */
export type RuleCost = number | Readonly<Record<string, number>>

/**
 * Is one line of a policy: the first rule whose match holds decides. A rule with `limit` or `concurrent` counts: within its limits the
 * rules after it decide, unless it has `then: allow`; beyond them its `action` applies.
 */
export interface Rule {
  readonly id: string
  readonly match: Match
  readonly action: Action
  /** On trial: its effect is recorded, and the rules after it decide. */
  readonly monitor?: boolean | undefined
  /**
   * The action where the data that the rule reads is not loaded and the rest of it matches. By default a rule that cannot be answered does
   * not match.
   */
  readonly onError?: PlainAction | undefined
  readonly limit?: RuleLimit | undefined
  readonly concurrent?: RuleConcurrent | undefined
  readonly cost?: RuleCost | undefined
  /** For a rule with the action `challenge`, which decides nothing for a client that holds a pass of its level. */
  readonly challenge?: RuleChallenge | undefined
  /**
   * The place to which a rule with the action `redirect` leads proven crawlers: a path of the site or an http URL, in which `{path}` is
   * replaced by the canonical path of the request.
   */
  readonly to?: string | undefined
  /** For a rule with the action `offer`: the price, and how it is paid. */
  readonly offer?: Offer | undefined
  /**
   * The weight of a sign: a rule that flags adds it to the sum that `match: { weight }` reads, and the rules after it decide; where none
   * does, the request is flagged.
   */
  readonly weight?: number | undefined
  /** Permits a rule that allows to rest on unproven claims, but never on a disproved one. */
  readonly trustClaim?: boolean | undefined
  /** Only beside `match.region`: says whether the rule matches where the region is not known. */
  readonly unknown?: UnknownRegion | undefined
  /** For a rule that blocks: 451, with the link of RFC 7725. Default 403. */
  readonly status?: 451 | undefined
  /** The rule allows within its limits, and no rule after it is evaluated. */
  readonly then?: 'allow' | undefined
}

/** Refuses clients for a while for their earlier offences. */
export interface Strikes {
  /**
   * `client`: the address, or a network of IPv6; where many share it, as behind carrier NAT or a VPN, the address with the headers of the
   * browser. `address`: always the whole address. Default `client`.
   */
  readonly key?: StrikeKey | undefined
  /** Counts the strikes within `window` that ban a client. */
  readonly count: number
  readonly window: string | number
  /**
   * `flagged`, `throttled`, `blocked`, `decoy`, `status:401` for a status of the origin's response, and `challenge_failed` for a solution
   * that is wrong, forged or spent.
   */
  readonly on: readonly string[]
  /** Answers a banned client: default `block`. `challenge`: the client is challenged, and a pass lifts the ban. */
  readonly then?: StrikesAction | undefined
  /** A ban expires after this time, as `15m`. */
  readonly for: string | number
}

export const STRIKE_KEYS = ['client', 'address', 'user'] as const
export type StrikeKey = (typeof STRIKE_KEYS)[number]

export const STRIKES_ACTIONS = ['block', 'challenge'] as const
export type StrikesAction = (typeof STRIKES_ACTIONS)[number]

export const LIMIT_PRESET_NAMES = [
  'polite-crawlers',
  'login-guard',
  'account-guard',
  'api-fair-use',
  'scanner-guard',
] as const
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
/** Names a policy that comes with Sallyport: the key `policy.preset`, or the `policy` of a mount. */
export type PresetName = (typeof PRESET_NAMES)[number]

/** A policy as written: the user's rules come first, then the rules of `limits`, those of the preset, and its default. */
export interface Policy {
  readonly preset: PresetName
  readonly rules: readonly Rule[]
  /** The action where no rule matches; default `allow`. */
  readonly default?: PlainAction | undefined
  /** The action where the inspection itself fails; default `allow`. */
  readonly onError?: PlainAction | undefined
  readonly limits?: readonly LimitPresetName[] | undefined
  /** Statuses that are a failure for limits that count failures; default 401, 403 and 422. */
  readonly failures?: readonly number[] | undefined
  readonly strikes?: Strikes | undefined
  /** CIDRs and addresses that are allowed before any rule, and never suspected. */
  readonly allowlist?: readonly string[] | undefined
}

/**
 * Sets the policy of one mount: a preset by name, rules that come before the preset `low-friction`, or a policy. The allowlist and the
 * strikes belong to the service.
 */
export type MountPolicy = PresetName | readonly Rule[] | Partial<Omit<Policy, 'allowlist' | 'strikes'>>
