import {
  ACCOUNT_EVENTS,
  type AccountEventName,
  EVENT_OUTCOMES,
  type EventOutcome,
  type InspectionRequest,
  invalidField,
  isRecord,
  parseAddress,
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

/** Reads an event that another program describes in JSON, with a `visitor` that has address and headers. Throws `invalid_request`. */
export function readDescribed(body: unknown): { readonly request: InspectionRequest; readonly event: AccountEvent } {
  if (!isRecord(body)) throw invalidField('body', 'must be an object')
  const { visitor, ...event } = body
  if (!isRecord(visitor))
    throw invalidField('visitor', 'must be an object with the address and the headers of the visitor')
  const { address: peer, headers = {}, method = 'POST', path: target = '/' } = visitor
  if (typeof peer !== 'string' || parseAddress(peer) === undefined)
    throw invalidField('visitor.address', 'is no address')
  if (!isRecord(headers)) throw invalidField('visitor.headers', 'must be an object')
  if (typeof method !== 'string' || typeof target !== 'string')
    throw invalidField('visitor', 'method and path are texts')
  const fields = Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]))
  if (!fields.every((field) => typeof field === 'string')) throw invalidField('visitor.headers', 'has texts')
  const request = { peer, method, target, scheme: 'unknown', httpVersion: '', fields } as const
  return { request, event: event as unknown as AccountEvent }
}
