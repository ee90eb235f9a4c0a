import type { Reason } from './reason.ts'

/** Lists moments in the life of a user's account that an application asks about. */
export const ACCOUNT_EVENTS = ['signup', 'login', 'reset', 'mfa', 'email_change', 'payment'] as const
export type AccountEventName = (typeof ACCOUNT_EVENTS)[number]

/** Says how an event ended. `unknown_user`: no user has the identifier. */
export const EVENT_OUTCOMES = ['success', 'failure', 'unknown_user'] as const
export type EventOutcome = (typeof EVENT_OUTCOMES)[number]

/** Lists facts about mail. `newDomain`: this service first saw the domain of the address within the last week. */
export const MAIL_FACTS = ['disposable', 'alias', 'noMx', 'newDomain'] as const
/** `known`: the user logged in from this network with this browser family before. `novel`: a part of that, or the country, is new. */
export const ACCOUNT_FACTS = ['known', 'travel', 'novel', 'dormant'] as const

/** An absent fact is not known. */
export type Facts<Name extends string> = { readonly [Fact in Name]?: boolean | undefined }
export type MailFacts = Facts<(typeof MAIL_FACTS)[number]>
export type AccountFacts = Facts<(typeof ACCOUNT_FACTS)[number]>

/** Describes an event of a user's account, as rules read it. It names no person: identifiers are keyed hashes. */
export interface InspectedEvent {
  readonly event: AccountEventName
  /** Absent before the application knows it: such a question counts nothing. */
  readonly outcome?: EventOutcome | undefined
  /** Keyed hashes of the identifier and, where it is known, of the user; each has a count of its own. */
  readonly identifiers: readonly string[]
  /** The registrable domain of a mail address has this name. */
  readonly mailDomain?: string | undefined
  /** Keyed hash of the mailbox without digits and signs; sign-ups alone have it. */
  readonly mailStem?: string | undefined
  readonly mail: MailFacts
  readonly account: AccountFacts
  /** The operator may see the reasons, the visitor never. */
  readonly reasons: readonly Reason[]
}
