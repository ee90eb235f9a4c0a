import type { Action, Mode } from '../vocabulary.ts'
import type { ChallengeTerms } from './challenge.ts'
import type { McpCall } from './mcp.ts'
import type { Offer } from './offer.ts'
import type { Reason } from './reason.ts'

/** Lists the keys that requests may be counted by; several together are one key. */
export const COUNT_KEYS = [
  'client',
  'browser',
  'prefix',
  'asn',
  'country',
  'class',
  'operator',
  'crawler',
  'identity',
  'user',
  'pass',
  'ja4',
  'identifier',
  'mailDomain',
  'mailStem',
  'likeness',
  'tool',
  'caller',
] as const
export type CountKey = (typeof COUNT_KEYS)[number]

/** Only events of accounts have these keys. */
export const EVENT_KEYS: readonly CountKey[] = ['identifier', 'mailDomain', 'mailStem']

/**
 * Lists kinds of limits. `sliding`: two windows, the earlier one weighted by its share of the last `window`. `fixed`: a window that begins
 * with its first request. `bucket`: `burst` at once, refilled by `max` a window.
 */
export const COUNT_KINDS = ['sliding', 'fixed', 'bucket'] as const
export type CountKind = (typeof COUNT_KINDS)[number]

/** A limit may count these responses in place of requests: failures by their status, pages by their content type. */
export const COUNTED_ANSWERS = ['failure', 'page'] as const
export type CountedAnswers = (typeof COUNTED_ANSWERS)[number]

/** Statuses that are a failure where a policy names none: not signed in, not permitted, not accepted. */
export const FAILURE_STATUSES: readonly number[] = [401, 403, 422]

export interface CountLimit {
  readonly kind: CountKind
  /** Limits the requests that a window or a bucket admits. */
  readonly max: number
  readonly windowMs: number
  /** Counts the requests that a bucket regains in a window. */
  readonly refill: number
}

/** Describes a rule of the policy that counts. Within its limits it decides nothing, unless it opens. */
export interface CountingRule {
  readonly id: string
  /** Names its counts: its id, with a number appended where an earlier counting rule has that id too, as a preset's. */
  readonly countedAs: string
  /** The rule has this effect beyond its limit, and gives this reason. */
  readonly action: Action
  readonly reason: Reason
  readonly challenge?: ChallengeTerms | undefined
  readonly offer?: Offer | undefined
  /** The rule only counts and reports. */
  readonly onTrial: boolean
  readonly limit?:
    | (CountLimit & {
        readonly keys: readonly CountKey[]
        readonly counts?: CountedAnswers | undefined
        readonly failures?: readonly number[] | undefined
        /** A success of each account takes back so many failures. */
        readonly excused?: number | undefined
      })
    | undefined
  /** Limits the requests in flight at one time; without keys, of all together. */
  readonly concurrent?: { readonly keys: readonly CountKey[]; readonly max: number } | undefined
}

export interface CountedRule {
  readonly rule: CountingRule
  /** Where the rule counts calls, this is the cost of one. */
  readonly cost: number
  /** Lists the calls that it counts; without it the rule counts the request. */
  readonly calls?: readonly McpCall[] | undefined
}

/** Lists the counting rules that a decision passed, in order. The decision holds while the request is within all their limits. */
export interface Counting {
  readonly mode: Mode
  readonly rules: readonly CountedRule[]
}

/** Says where a request stands in a limit. */
export interface LimitUse {
  readonly rule: string
  readonly action: Action
  readonly onTrial: boolean
  /** Includes this request where it was admitted; of failures and pages it counts the earlier ones. */
  readonly used: number
  readonly max: number
  /** Absent where the limit is about requests. */
  readonly counts?: CountedAnswers | undefined
  /** Absent where the limit is about requests in flight, which have no window. */
  readonly windowMs?: number | undefined
  /** Milliseconds until the count falls: within the limit, until the window ends; beyond it, until such a request fits. */
  readonly resetMs: number
  readonly exceeded: boolean
}
