import type { Action, Mode } from '../vocabulary.ts'
import type { ChallengeTerms } from './challenge.ts'
import type { Reason } from './reason.ts'

/** Keys that requests may be counted by; several together are one key. */
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
] as const
export type CountKey = (typeof COUNT_KEYS)[number]

/**
 * `sliding`: two windows, the one before weighted by what of it is still within the last `window`. `fixed`: a window that
 * begins with its first request. `bucket`: `burst` at once, refilled by `refill` a window.
 */
export const COUNT_KINDS = ['sliding', 'fixed', 'bucket'] as const
export type CountKind = (typeof COUNT_KINDS)[number]

/** Answers that a limit may count in place of requests: failures by their status, pages by their content type. */
export const COUNTED_ANSWERS = ['failure', 'page'] as const
export type CountedAnswers = (typeof COUNTED_ANSWERS)[number]

/** Statuses that are a failure where a policy names none: not signed in, not permitted, not accepted. */
export const FAILURE_STATUSES: readonly number[] = [401, 403, 422]

/** How much fits into how long. */
export interface CountLimit {
  readonly kind: CountKind
  /** Requests that fit into a window or a bucket. */
  readonly max: number
  readonly windowMs: number
  /** Requests that a bucket regains in a window. */
  readonly refill: number
}

/** A rule of the policy that counts. Within its limits it decides nothing, unless it opens. */
export interface CountingRule {
  readonly id: string
  /** Name of its counts: its id, with a number behind it where a rule before it that counts has that id too, as of a preset. */
  readonly countedAs: string
  /** Effect beyond a limit, and the sentence about it. */
  readonly action: Action
  readonly reason: Reason
  /** There where `action` is `challenge`. */
  readonly challenge?: ChallengeTerms | undefined
  /** It counts and reports alone. */
  readonly onTrial: boolean
  readonly limit?:
    | (CountLimit & {
        readonly keys: readonly CountKey[]
        /** Answers that it counts; absent: it counts requests. */
        readonly counts?: CountedAnswers | undefined
        /** Statuses of the answers that it counts as failures. */
        readonly failures?: readonly number[] | undefined
      })
    | undefined
  /** Requests in flight at one time; without keys, of all together. */
  readonly concurrent?: { readonly keys: readonly CountKey[]; readonly max: number } | undefined
}

/** A counting rule that a request comes under, and what the request costs there. */
export interface CountedRule {
  readonly rule: CountingRule
  readonly cost: number
}

/** The counting rules that a decision passed, in order: deciding counts nothing, and the decision holds while the request is within all of them. */
export interface Counting {
  readonly mode: Mode
  readonly rules: readonly CountedRule[]
}

/** A request's place in a limit. */
export interface LimitUse {
  /** Id of the rule. */
  readonly rule: string
  readonly action: Action
  readonly onTrial: boolean
  /** This request included, where it was within; of failures and pages those before it. */
  readonly used: number
  readonly max: number
  /** Absent: requests. */
  readonly counts?: CountedAnswers | undefined
  /** Absent: what is in flight, which has no window. */
  readonly windowMs?: number | undefined
  /** Until the count falls: within, until the window ends; beyond, until such a request fits. */
  readonly resetMs: number
  readonly exceeded: boolean
}
