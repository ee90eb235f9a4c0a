import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { RequestHost } from './request-host.ts'

/** Ids that are taken over: they are written into headers, logs and pages as they are. */
const ACCEPTED = /^[\w.:/+=@~-]{1,128}$/
/** W3C Trace Context: version, trace, parent and flags. */
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/

/** The id of a request: what a trusted proxy names in `x-request-id`, else the trace of its `traceparent`, else a new one. */
export function newId(
  host: RequestHost,
  peer: string | undefined,
  { 'x-request-id': named, traceparent }: IncomingHttpHeaders,
): string {
  if (peer === undefined || !host.isTrusted?.(peer)) return randomUUID()
  if (typeof named === 'string' && ACCEPTED.test(named)) return named
  return (typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined) ?? randomUUID()
}

/** The header of an answer that has the id of its request. */
export const ID_HEADER = 'X-Request-Id'

/** Names the id in an answer that is not begun. */
export function nameAnswer(response: ServerResponse, id: string): void {
  if (!response.headersSent) response.setHeader(ID_HEADER, id)
}
