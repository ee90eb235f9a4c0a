import { ERRORS, type ErrorCode, SallyportError } from '@sallyport/core'
import type { Standing } from './admission.ts'
import type { ApiResponse } from './request.ts'
import type { Route } from './route.ts'
import type { ErrorResponse, RateLimitResponse } from './schemas/error-response.ts'

type Headers = Readonly<Record<string, string>>

/** When to come back while a store is down, in seconds. */
const OUTAGE_RETRY_SECONDS = 5

/** What every answer says unless it has something else to say: JSON, and nothing is cached. */
const ANSWER_HEADERS: Headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}

/** What every 200 of a route says; made once a route, because a request has microseconds. */
export function successHeaders({ cache, mediaType, headers }: Pick<Route, 'cache' | 'mediaType' | 'headers'>): Headers {
  return {
    ...ANSWER_HEADERS,
    ...(cache === undefined ? {} : { 'Cache-Control': cache }),
    ...(mediaType === undefined ? {} : { 'Content-Type': mediaType }),
    ...headers,
  }
}

/** What a limited answer says of its limit (specification: Rate-limit headers), before anything is known of it. */
const LIMIT_HEADERS = { 'X-RateLimit-Limit': '', 'X-RateLimit-Remaining': '', 'X-RateLimit-Reset': '' }

/**
 * What the answers of a route say of themselves, and of their limit, as integers, where they have one. The members of a
 * limited answer are there already when it is made: a copy that is given others takes ten times as long.
 */
export function headersWriter(headers: Headers): (standing: Standing | undefined) => Headers {
  const limited = { ...headers, ...LIMIT_HEADERS }
  return (standing) => {
    if (standing === undefined) return headers
    const written = { ...limited }
    written['X-RateLimit-Limit'] = String(standing.limit)
    written['X-RateLimit-Remaining'] = String(standing.remaining)
    written['X-RateLimit-Reset'] = String(standing.resetAt)
    return written
  }
}

/** An error that the caller may be told of. */
export interface Failure {
  readonly status: number
  readonly code: ErrorCode
  readonly message: string
  readonly details?: unknown
  /** Not an error of the table, or one that no caller can meet: a bug, to be told to the host. */
  readonly bug: boolean
}

/** What to tell a caller of an error: its row of the table, or nothing but that it is ours. */
export function failureOf(error: unknown): Failure {
  if (error instanceof SallyportError) {
    const { code, message, details } = error
    const { status } = ERRORS[code]
    if (status !== undefined) {
      return { status, code, message, bug: status === 500, ...(details === undefined ? {} : { details }) }
    }
  }
  const { status, message } = ERRORS.internal_error
  return { status, code: 'internal_error', message, bug: true }
}

/** The answer to a failed request, with `headers` beside its own; `retryAfter` (seconds) is asked for by 429 alone. */
export function failureAnswer(failure: Failure, headers: Headers, retryAfter: number): ApiResponse {
  const { status, code, message, details } = failure
  const body: ErrorResponse & Partial<RateLimitResponse> = {
    error: code,
    message,
    ...(details === undefined ? {} : { details }),
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
