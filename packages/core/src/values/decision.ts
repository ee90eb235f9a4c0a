import type { Action, Mode, PlainAction } from '../vocabulary.ts'
import type { ChallengeTerms } from './challenge.ts'
import type { Counting, LimitUse } from './counting.ts'
import type { Inspection } from './inspection.ts'
import type { Reason } from './reason.ts'

/** Record of a request that claims to come from somewhere: the id given out is a durable record. */
export interface Attestation {
  /** Counts from 1 over all accounts of a ledger, without gaps. */
  readonly id: number
  /** Country code, or group of countries. */
  readonly claim: string
  /** The action of the jurisdiction policy, and the id of its rule. */
  readonly action: PlainAction
  readonly reason: string
}

/** A rule on trial that matches. It is recorded and changes nothing. */
export interface Trial {
  /** Id of the rule. */
  readonly rule: string
  readonly action: Action
}

/** A rule of which a request does not tell whether it matches. */
export interface Unjudged {
  /** Id of the rule. */
  readonly rule: string
  /** The words of its match that cannot be answered. */
  readonly words: readonly string[]
}

/** The ban that refuses or challenges a client. */
export interface DecidedBan {
  /** For `bans lift`. */
  readonly id: string
  /** Strikes by their word, such as `2 status:404`. */
  readonly strikes: readonly string[]
  /** Milliseconds since the epoch. */
  readonly until: number
}

/**
 * The decision about a request. `action` is what the policy decided, never what a rule on trial would have; `enforced`
 * is false only in monitor mode, where nothing but allow is carried out.
 */
export interface Decision {
  /** The request's. */
  readonly id?: string | undefined
  readonly action: Action
  readonly enforced: boolean
  /** `monitor` where nothing is carried out, whatever `action` is; absent: `enforce`. */
  readonly mode?: Extract<Mode, 'monitor'> | undefined
  /** The check of the claimed crawler is not over: the answer is 503, and nothing is counted. Absent elsewhere. */
  readonly unready?: true | undefined
  /** Terms of the challenge, where `action` is `challenge`. */
  readonly challenge?: ChallengeTerms | undefined
  /** `Location` of the answer, where `action` is `redirect`. */
  readonly location?: string | undefined
  /** The first rule on trial before the deciding one whose action is stricter. */
  readonly trial?: Trial | undefined
  /** All rules on trial that match before the deciding one, stricter or not; absent where there is none. */
  readonly trials?: readonly Trial[] | undefined
  readonly reasons: readonly Reason[]
  readonly inspection: Inspection
  /** The rules before the deciding one that what is said of a described request leaves open; absent for one that came here. */
  readonly unjudged?: readonly Unjudged[] | undefined
  /** There before counting, where counting rules match: the decision holds while the request is within them. */
  readonly counting?: Counting | undefined
  /** There after counting: where the request stands with each limit that it was counted by. */
  readonly limits?: readonly LimitUse[] | undefined
  /** The visitor's pass let the request by: who has none is to be challenged, and the answer is for no cache that others share. */
  readonly restsOnPass?: true | undefined
  /** There where the client is banned. */
  readonly ban?: DecidedBan | undefined
  /** There where the request made a claim that was attested. */
  readonly attestation?: Attestation | undefined
}
