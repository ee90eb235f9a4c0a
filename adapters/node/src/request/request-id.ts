import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { RequestHost } from './request-host.ts'

/** Matches ids that are safe to write unchanged into headers, logs and pages. */
const ACCEPTED = /^[\w.:/+=@~-]{1,128}$/
/** Reads the fields of W3C Trace Context: version, trace, parent and flags. */
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/

/** Returns the id of a request: `x-request-id` of a trusted proxy, else the trace of its `traceparent`, else a new id. */
export function newId(
  host: RequestHost,
  peer: string | undefined,
  { 'x-request-id': named, traceparent }: IncomingHttpHeaders,
): string {
  if (peer === undefined || !host.isTrusted?.(peer)) return randomUUID()
  if (typeof named === 'string' && ACCEPTED.test(named)) return named
  return (typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined) ?? randomUUID()
}

/** The answer carries the id of its request in this header. */
export const ID_HEADER = 'x-request-id'
