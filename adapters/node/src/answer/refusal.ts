import type { Decision, ErrorCode, McpFault, McpRequest } from '@sallyport/core'
import { ERRORS, refuses } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { chooseForm } from '../request/accept.ts'
import type { HeadFault } from '../request/head-fault.ts'
import { isHttp2 } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { RefusalPage } from '../request/request-host.ts'
import { limitFields } from './limit-fields.ts'
import { refusalPage } from './refusal-page.ts'
import { type Refused, refusalText, refusalWords } from './refusal-words.ts'
import { signatureWish } from './signature-wish.ts'

/** Says why Sallyport answers a request instead of the host or the origin. */
export interface Refusal {
  readonly code: ErrorCode
  readonly status: number
  /** Addresses programs; people get the texts of the page. */
  readonly message: string
  /** Is the error code for clients of MCP; absent: `status`. */
  readonly rpcCode?: number | undefined
  /** Adds headers to the headers of every refusal; names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Follows the text for people. */
  readonly note?: string | undefined
  /** Holds further members of the body for programs. */
  readonly body?: object | undefined
}

/** The request that a refusal is rendered for. */
export interface RefusedRequest {
  readonly id: string
  /** Lists the fields, which decide the form of the refusal; absent: always JSON. */
  readonly fields?: readonly string[] | undefined
  /** Reports whether a person's browser sent the request; absent: unknown. */
  readonly isBrowser?: (() => boolean) | undefined
  readonly page?: RefusalPage | undefined
  /** Holds the calls of a request to an MCP server, which is refused as JSON-RPC. */
  readonly mcp?: McpRequest | undefined
  /** Joins the id in the details that programs read. */
  readonly details?: object | undefined
}

/** Creates a refusal for a code of the error table, which gives status and message by default. A 503 says when to try again. */
export function refusal(
  code: ErrorCode,
  status: number = ERRORS[code].status ?? 500,
  message: string = ERRORS[code].message,
): Refusal {
  return { code, status, message, headers: status === 503 ? { 'retry-after': '5' } : {} }
}

/** Returns the refusal for an enforced decision: 429 where the client may retry, 503 while a check runs, 451 by law, else 403. */
export function decisionRefusal(decision: Decision, { fields }: Pick<ReceivedHead, 'fields'>): Refusal | undefined {
  if (!decision.enforced || !refuses(decision.action)) return undefined
  // No signature lets a client in where a law requires the block.
  if (decision.action === 'block' && decision.status === 451) return legalRefusal()
  const { fault } = decision.inspection.mcp ?? {}
  if (fault !== undefined && decision.status === fault.status) return callRefusal(fault)
  const headers = signatureWish(decision, fields)
  if (decision.action === 'challenge') return { ...refusal('challenge_required'), headers }
  if (decision.unready) return refusal('service_unavailable')
  if (decision.action !== 'throttle') return { ...refusal('request_blocked'), headers }
  return { ...refusal('rate_limit_exceeded'), headers: { ...headers, ...limitFields(decision) } }
}

/** Refuses a request whose calls cannot be read (RFC 9110 section 15.5.16). */
export function callRefusal({ status, code, message }: McpFault): Refusal {
  const refused = refusal(status === 413 ? 'payload_too_large' : 'invalid_request', status, message)
  return { ...refused, rpcCode: code, headers: status === 415 ? { 'accept-encoding': 'identity' } : {} }
}

/** Refuses by law. The site itself blocks, and its own address says so without repeating a word of the client (RFC 7725 section 4). */
export function legalRefusal(): Refusal {
  return { ...refusal('unavailable_for_legal_reasons'), headers: { link: '</>; rel="blocked-by"' } }
}

/** Refuses a request for its head, and ends the connection; an answer of HTTP/2 cannot say so. */
export function headRefusal({ status, reason }: HeadFault, fields: readonly string[]): Refusal {
  const refused = refusal('invalid_request', status, reason)
  return isHttp2(fields) ? refused : { ...refused, headers: { connection: 'close' } }
}

/**
 * Renders a refusal in the form that the request accepts: an ErrorResponse, an error of JSON-RPC for a client of MCP, a page or plain text.
 * No form names the rule or the signal, because a client could then retry until it passes; the log has both under the id. No cache keeps a
 * refusal: the next request may be decided differently.
 */
export function rendered(refused: Refusal, request: RefusedRequest): ApiResponse {
  const { code, status, message, headers, note, body: members } = refused
  const { id, fields, mcp, page = {}, isBrowser, details } = request
  if (mcp !== undefined) {
    const body = JSON.stringify(rpcError(refused, mcp, { requestId: id, ...details, ...members }))
    return { status, headers: { ...HEADERS, ...headers, 'content-type': 'application/json' }, body }
  }
  const form = fields === undefined ? 'json' : chooseForm(fields, isBrowser)
  if (fields === undefined || form === 'json') {
    const body = JSON.stringify({ ...members, error: code, message, details: { requestId: id, ...details } })
    return { status, headers: { ...HEADERS, ...headers, 'content-type': 'application/json; charset=utf-8' }, body }
  }
  const shown = { status, id, fields, note, retryAfter: Number(headers['retry-after'] ?? 0) }
  const made = form === 'page' ? refusalPage(page, shown) : plainText(page, shown)
  return {
    status,
    headers: { ...HEADERS, ...headers, vary: 'Accept, Accept-Language', ...made.headers },
    body: made.body,
  }
}

/**
 * Makes the error of JSON-RPC (2.0 section 5.1) for a request to an MCP server. The code is the HTTP status where MCP defines none:
 * JSON-RPC reserves a range, and new codes stay outside it. Each call of a batch that waits for an answer gets its own error.
 */
function rpcError({ code, status, rpcCode = status, message, headers }: Refusal, calls: McpRequest, details: object) {
  const { 'retry-after': wait } = headers
  const data = { ...details, error: code, ...(wait !== undefined && { retryAfter: Number(wait) }) }
  const error = { code: rpcCode, message, data }
  // No id can be answered where no call waits for an answer (MCP 2026-07-28).
  const answers = calls.ids.map((id) => ({ jsonrpc: '2.0', id, error }))
  return calls.isBatch && answers.length > 0 ? answers : (answers[0] ?? { jsonrpc: '2.0', error })
}

function plainText(page: RefusalPage, refused: Refused) {
  const words = refusalWords(page, refused)
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-language': words.lang }
  return { headers, body: refusalText(words, refused.id) }
}

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
