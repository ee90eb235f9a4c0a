import type { Action, Mode, PlainAction } from '../vocabulary.ts'
import type { ChallengeTerms } from './challenge.ts'
import type { Counting, LimitUse } from './counting.ts'
import type { Inspection } from './inspection.ts'
import type { McpFault } from './mcp.ts'
import type { Offer } from './offer.ts'
import type { Reason } from './reason.ts'

/** Records a request that claims an origin: the id is given out and stays valid. */
export interface Attestation {
  /** Counts from 1 over all accounts of a ledger, without gaps. */
  readonly id: number
  /** Claims a country by its code, or a group of countries. */
  readonly claim: string
  /** The jurisdiction policy decided this action, by the rule of this id. */
  readonly action: PlainAction
  readonly reason: string
}

/** A block may have these statuses besides 403. */
export type RefusalStatus = 451 | McpFault['status']

/** A rule on trial matches. It is recorded and changes nothing. */
export interface Trial {
  readonly rule: string
  readonly action: Action
}

/** A request does not tell whether this rule matches. */
export interface Unjudged {
  readonly rule: string
  /** These words of its match cannot be answered. */
  readonly words: readonly string[]
}

export interface DecidedBan {
  /** `bans lift` takes this id. */
  readonly id: string
  /** Counts strikes by their word, such as `2 status:404`. */
  readonly strikes: readonly string[]
  /** The ban expires then, in milliseconds since the epoch. */
  readonly until: number
}

/**
 * Holds the decision about a request. `action` is what the policy decided, never what a rule on trial would have; `enforced` is false only
 * in monitor mode, where nothing but allow takes effect.
 */
export interface Decision {
  readonly id?: string | undefined
  readonly action: Action
  readonly enforced: boolean
  /** `monitor` where nothing takes effect, whatever `action` is; absent where decisions are enforced. */
  readonly mode?: Extract<Mode, 'monitor'> | undefined
  /** The check of the claimed crawler is still running: the response is 503, and nothing is counted. Absent elsewhere. */
  readonly unready?: true | undefined
  /** Terms of the challenge, where `action` is `challenge`. */
  readonly challenge?: ChallengeTerms | undefined
  /** `Location` of the response, where `action` is `redirect`. */
  readonly location?: string | undefined
  /** The price and how it is paid, where `action` is `offer`. */
  readonly offer?: Offer | undefined
  /** 451 where the blocking rule sets it (RFC 7725), or the status for a request whose calls cannot be read; default 403. */
  readonly status?: RefusalStatus | undefined
  /** The first rule on trial before the deciding one whose action is stricter. */
  readonly trial?: Trial | undefined
  /** Lists all rules on trial that match before the deciding one, stricter or not; absent where there is none. */
  readonly trials?: readonly Trial[] | undefined
  readonly reasons: readonly Reason[]
  readonly inspection: Inspection
  /** Lists the rules before the deciding one that a described request leaves open; absent for a request that came here. */
  readonly unjudged?: readonly Unjudged[] | undefined
  /** Set before counting, where counting rules match: the decision holds while the request is within them. */
  readonly counting?: Counting | undefined
  /** Set after counting: says where the request stands with each limit that counted it. */
  readonly limits?: readonly LimitUse[] | undefined
  /** The visitor's pass let the request by. A visitor without one is to be challenged, so shared caches must not keep the response. */
  readonly restsOnPass?: true | undefined
  readonly ban?: DecidedBan | undefined
  readonly attestation?: Attestation | undefined
}
