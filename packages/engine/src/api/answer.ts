import { type Details, ERRORS, type ErrorCode, SallyportError } from '@sallyport/core'
import type { RateLimit } from './client-admission.ts'
import type { ApiResponse } from './request.ts'
import type { Route } from './route.ts'
import type { ErrorResponse, RateLimitResponse } from './schemas/account.ts'

type Headers = Readonly<Record<string, string>>

/** `Retry-After` while a store is down. */
const OUTAGE_RETRY_SECONDS = 5

/** Default headers of every answer: JSON, and not cached. */
const ANSWER_HEADERS: Headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}

/** Returns the headers of every 200 of a route, made once per route. */
export function successHeaders({ cache, mediaType, headers }: Pick<Route, 'cache' | 'mediaType' | 'headers'>): Headers {
  return {
    ...ANSWER_HEADERS,
    ...(cache === undefined ? {} : { 'Cache-Control': cache }),
    ...(mediaType === undefined ? {} : { 'Content-Type': mediaType }),
    ...headers,
  }
}

/** Headers of a limited answer (specification: Rate-limit headers), to be filled in. */
const LIMIT_HEADERS = { 'X-RateLimit-Limit': '', 'X-RateLimit-Remaining': '', 'X-RateLimit-Reset': '' }

/** Adds the limit, as integers, to a route's headers. A copy that has the members already is ten times as fast as one that gains them. */
export function headersWriter(headers: Headers): (rateLimit: RateLimit | undefined) => Headers {
  const limited = { ...headers, ...LIMIT_HEADERS }
  return (rateLimit) => {
    if (rateLimit === undefined) return headers
    const written = { ...limited }
    written['X-RateLimit-Limit'] = String(rateLimit.limit)
    written['X-RateLimit-Remaining'] = String(rateLimit.remaining)
    written['X-RateLimit-Reset'] = String(rateLimit.resetAt)
    return written
  }
}

/** An error as the caller sees it. */
export interface Failure {
  readonly status: number
  readonly code: ErrorCode
  readonly message: string
  readonly details?: Details | undefined
  /** True when the error is not in the table, or no caller can cause it: a bug, which is reported to the host. */
  readonly bug: boolean
}

/** Returns an error's row of the table, or an internal error without detail. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof SallyportError) {
    const { code, message, details } = error
    const { status } = ERRORS[code]
    if (status !== undefined) return { status, code, message, bug: status === 500, details }
  }
  const { status, message } = ERRORS.internal_error
  return { status, code: 'internal_error', message, bug: true }
}

/** Builds the response to a failed request, which names the request by its id; a 429 alone has `retryAfter`, in seconds. */
export function failureAnswer(
  { status, code, message, details }: Failure,
  id: string | undefined,
  headers: Headers,
  retryAfter = 0,
): ApiResponse {
  const body: ErrorResponse & Partial<RateLimitResponse> = {
    error: code,
    message,
    ...(id === undefined ? (details === undefined ? {} : { details }) : { details: { ...details, requestId: id } }),
    ...(status === 429 ? { retryAfter } : {}),
  }
  const own = { ...ANSWER_HEADERS, ...headers, ...failureHeaders(status, retryAfter) }
  return { status, headers: own, body: JSON.stringify(body) }
}

function failureHeaders(status: number, retryAfter: number): Headers {
  switch (status) {
    case 401:
      return { 'WWW-Authenticate': 'Bearer' }
    case 429:
      return { 'Retry-After': String(retryAfter) }
    case 503:
      return { 'Retry-After': String(OUTAGE_RETRY_SECONDS) }
    default:
      return {}
  }
}
