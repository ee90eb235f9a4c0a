import {
  ACCOUNT_EVENTS,
  type AccountEventName,
  EVENT_OUTCOMES,
  type EventOutcome,
  invalidField,
  isRecord,
} from '@sallyport/core'

/** An event of a user's account, as the application tells it. */
export interface AccountEvent {
  readonly event: AccountEventName
  /** Absent before it is known: then the event is judged, and nothing is counted or remembered. */
  readonly outcome?: EventOutcome | undefined
  /** The application's own id of the user, wherever it knows it. */
  readonly user?: string | undefined
  /** The visitor wrote this mail address or name. Either it or `user` must be given. */
  readonly identifier?: string | undefined
  /** The mail address, where the identifier is another one. */
  readonly mail?: string | undefined
}

/** In characters: what is longer names nobody. */
const MAX_TEXT = 65_536

/** Reads each member once: an object may answer differently the next time. Throws `invalid_request`. */
export function readEvent(given: AccountEvent): AccountEvent {
  if (!isRecord(given)) throw invalidField('event', 'must be an object')
  const { event, outcome, user, identifier, mail } = given
  if (!ACCOUNT_EVENTS.includes(event)) throw invalidField('event', `must be one of ${ACCOUNT_EVENTS.join(', ')}`)
  if (outcome !== undefined && !EVENT_OUTCOMES.includes(outcome)) {
    throw invalidField('outcome', `must be one of ${EVENT_OUTCOMES.join(', ')}`)
  }
  for (const [name, text] of Object.entries({ user, identifier, mail })) {
    if (text === undefined) continue
    if (typeof text !== 'string' || text === '' || text.length > MAX_TEXT) {
      throw invalidField(name, `must be a text of 1 to ${MAX_TEXT} characters`)
    }
  }
  if (user === undefined && identifier === undefined) throw invalidField('identifier', 'name it, or the user')
  return { event, outcome, user, identifier, mail }
}
