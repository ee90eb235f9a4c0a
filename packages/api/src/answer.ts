import { ERRORS, type ErrorCode, SallyportError } from '@sallyport/core'
import type { Standing } from './admission.ts'
import type { ApiResponse } from './request.ts'
import type { ErrorResponse, RateLimitResponse } from './schemas/error-response.ts'

type Headers = Readonly<Record<string, string>>

/** When to come back while a store is down, in seconds. */
const OUTAGE_RETRY_SECONDS = 5

/** A JSON answer. Nothing is cached unless the headers say so. */
export function jsonAnswer(status: number, body: unknown, headers: Headers = {}): ApiResponse {
  return {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      ...headers,
    },
    body: JSON.stringify(body),
  }
}

/** What a limited answer says of its limit (specification: Rate-limit headers), as integers. */
export function limitHeaders(standing: Standing | undefined): Headers {
  if (standing === undefined) return {}
  return {
    'X-RateLimit-Limit': String(standing.limit),
    'X-RateLimit-Remaining': String(standing.remaining),
    'X-RateLimit-Reset': String(standing.resetAt),
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

/** The answer to a failed request; `retryAfter` (seconds) is asked for by 429 alone. */
export function failureAnswer(failure: Failure, headers: Headers, retryAfter: number): ApiResponse {
  const { status, code, message, details } = failure
  const body: ErrorResponse & Partial<RateLimitResponse> = {
    error: code,
    message,
    ...(details === undefined ? {} : { details }),
    ...(status === 429 ? { retryAfter } : {}),
  }
  return jsonAnswer(status, body, { ...headers, ...failureHeaders(status, retryAfter) })
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
