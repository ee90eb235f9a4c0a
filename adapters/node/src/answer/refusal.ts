import type { Decision, ErrorCode } from '@sallyport/core'
import { ERRORS, refuses } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { prefersHtml } from '../request/accept.ts'
import type { HeadFault } from '../request/head-fault.ts'
import { isHttp2 } from '../request/head-fields.ts'
import type { RefusalPage } from '../request/request-host.ts'
import { limitFields } from './limit-fields.ts'
import { PAGE_HEADERS, refusalPage } from './refusal-page.ts'

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
  /** Its fields: a request that would rather have HTML gets a page; absent: always JSON. */
  readonly fields?: readonly string[] | undefined
  readonly page?: RefusalPage | undefined
}

/** A refusal of a code of the error table, which has its status and message where none are given. A 503 says when to try again. */
export function refusal(
  code: ErrorCode,
  status: number = ERRORS[code].status ?? 500,
  message: string = ERRORS[code].message,
): Refusal {
  return { code, status, message, headers: status === 503 ? { 'retry-after': '5' } : {} }
}

/** The refusal that a decision against a request comes to where it is enforced: 429 where it may come again, else 403. */
export function decisionRefusal(decision: Decision): Refusal | undefined {
  if (!decision.enforced || !refuses(decision.action)) return undefined
  if (decision.action !== 'throttle') return refusal('request_blocked')
  return { ...refusal('rate_limit_exceeded'), headers: limitFields(decision) }
}

/** The refusal of a request for its head; it ends the connection, which an answer of HTTP/2 cannot say. */
export function headRefusal({ status, reason }: HeadFault, fields: readonly string[]): Refusal {
  const refused = refusal('invalid_request', status, reason)
  return isHttp2(fields) ? refused : { ...refused, headers: { connection: 'close' } }
}

/**
 * A refusal as it is sent: an ErrorResponse, or a page where the request would rather have HTML. Neither says which rule
 * or signal it was: who is refused could try until it no longer is. The id finds that in the log. Not to be cached:
 * the next request may be decided differently.
 */
export function rendered({ code, status, message, headers }: Refusal, request: RefusedRequest): ApiResponse {
  const { id, fields, page = {} } = request
  if (fields !== undefined && prefersHtml(fields)) {
    const html = refusalPage(page, { status, id, fields })
    return { status, headers: { ...HEADERS, ...headers, ...PAGE_HEADERS, ...html.headers }, body: html.body }
  }
  return {
    status,
    headers: { ...HEADERS, ...headers, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error: code, message, details: { requestId: id } }),
  }
}

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
