import { type Decision, type InspectionRequest, invalidField, isRecord, parseAddress } from '@sallyport/core'
import type { AccountProtection, Assessment } from './assess.ts'
import type { AccountEvent } from './read-event.ts'

/**
 * Judges an event that an application of another language describes in JSON: the members of an event, and `visitor` with its address and
 * headers. Rejects with `invalid_request`.
 */
export async function assessDescribed(
  body: unknown,
  decide: (request: InspectionRequest) => Decision,
  assess: AccountProtection['assess'],
): Promise<Assessment> {
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
  return assess({ sallyport: decide(request), rawHeaders: fields }, event as unknown as AccountEvent)
}
