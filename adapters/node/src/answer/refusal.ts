import type { Decision, ErrorCode } from '@sallyport/core'
import { ERRORS, refuses } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { formOf } from '../request/accept.ts'
import type { HeadFault } from '../request/head-fault.ts'
import { isHttp2 } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { RefusalPage, RequestHost } from '../request/request-host.ts'
import { limitFields } from './limit-fields.ts'
import { refusalPage } from './refusal-page.ts'
import { type Refused, refusalText, refusalWords } from './refusal-words.ts'
import { signatureWish } from './signature-wish.ts'

/** Why a request is answered by us instead of by the host or the origin. */
export interface Refusal {
  readonly code: ErrorCode
  readonly status: number
  /** For programs; people get the texts of the page. */
  readonly message: string
  /** Beside those of every refusal; names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** The request that a refusal is rendered for. */
export interface RefusedRequest {
  /** The request's id. */
  readonly id: string
  /** Its fields, which say in which form it is refused; absent: always JSON. */
  readonly fields?: readonly string[] | undefined
  /** Whether a person's browser asks; absent: that is not known. */
  readonly isBrowser?: (() => boolean) | undefined
  readonly page?: RefusalPage | undefined
  /** For programs, beside the id. */
  readonly details?: object | undefined
}

/** A request of a host, for its refusal. */
export function refusedRequest(host: RequestHost, head: ReceivedHead): RefusedRequest {
  const { id, fields } = head
  return { id, fields, page: host.refusalPage, isBrowser: () => host.isBrowser?.(head) === true }
}

/** A refusal of a code of the error table, which has its status and message where none are given. A 503 says when to try again. */
export function refusal(
  code: ErrorCode,
  status: number = ERRORS[code].status ?? 500,
  message: string = ERRORS[code].message,
): Refusal {
  return { code, status, message, headers: status === 503 ? { 'retry-after': '5' } : {} }
}

/** The refusal that a decision against a request comes to where it is enforced: 429 where it may come again, 503 while a check runs, else 403. */
export function decisionRefusal(decision: Decision, { fields }: Pick<ReceivedHead, 'fields'>): Refusal | undefined {
  if (!decision.enforced || !refuses(decision.action)) return undefined
  const headers = signatureWish(decision, fields)
  if (decision.action === 'challenge') return { ...refusal('challenge_required'), headers }
  if (decision.unready) return refusal('service_unavailable')
  if (decision.action !== 'throttle') return { ...refusal('request_blocked'), headers }
  return { ...refusal('rate_limit_exceeded'), headers: { ...headers, ...limitFields(decision) } }
}

/** The refusal of a request for its head; it ends the connection, which an answer of HTTP/2 cannot say. */
export function headRefusal({ status, reason }: HeadFault, fields: readonly string[]): Refusal {
  const refused = refusal('invalid_request', status, reason)
  return isHttp2(fields) ? refused : { ...refused, headers: { connection: 'close' } }
}

/**
 * A refusal as it is sent: an ErrorResponse, or a page or plain text where the request is refused in that form. None says
 * which rule or signal it was: who is refused could try until it no longer is. The id finds that in the log. Not to be
 * cached: the next request may be decided differently.
 */
export function rendered({ code, status, message, headers }: Refusal, request: RefusedRequest): ApiResponse {
  const { id, fields, page = {}, isBrowser, details } = request
  const form = fields === undefined ? 'json' : formOf(fields, isBrowser)
  if (fields === undefined || form === 'json') {
    const body = JSON.stringify({ error: code, message, details: { requestId: id, ...details } })
    return { status, headers: { ...HEADERS, ...headers, 'content-type': 'application/json; charset=utf-8' }, body }
  }
  const refused = { status, id, fields, retryAfter: Number(headers['retry-after'] ?? 0) }
  const made = form === 'page' ? refusalPage(page, refused) : plainText(page, refused)
  return {
    status,
    headers: { ...HEADERS, ...headers, vary: 'Accept, Accept-Language', ...made.headers },
    body: made.body,
  }
}

function plainText(page: RefusalPage, refused: Refused) {
  const words = refusalWords(page, refused)
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-language': words.lang }
  return { headers, body: refusalText(words, refused.id) }
}

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
