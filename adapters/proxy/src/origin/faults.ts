import { SallyportError } from '@sallyport/core'
import type { Limits } from '@sallyport/engine/limits'

/** The client's error for a failure of the origin. */
export type OriginFailure = 'bad_gateway' | 'gateway_timeout'

const TOO_LATE = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

/** A time-out is 504, any other failure 502. */
export function failureOf(error: Error): OriginFailure {
  return 'code' in error && TOO_LATE.has(String(error.code)) ? 'gateway_timeout' : 'bad_gateway'
}

/** The kind of a failure, for metrics. */
export type OriginFault = 'timeout' | 'unreachable' | 'bad_answer' | 'lost'

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EACCES',
])

/** Whether a server could not even be connected to: nothing was sent. */
export function isUnreached(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : ''
  return UNREACHABLE.has(code) || code === 'UND_ERR_CONNECT_TIMEOUT'
}

const HEAD_OVERFLOW = new Set(['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW'])

/** A failure in words for who can change it: a head that is too large for a limit of ours names that. */
export function explained(error: Error, { originHeadBytes }: Pick<Limits, 'originHeadBytes'>): Error {
  if (!('code' in error && HEAD_OVERFLOW.has(String(error.code)))) return error
  const limit = `limits.originHeadBytes: ${originHeadBytes}`
  return new SallyportError('bad_gateway', `the head of the origin's answer is too large (${limit})`)
}

export function faultOf(error: Error): OriginFault {
  const code = 'code' in error ? String(error.code) : ''
  if (TOO_LATE.has(code)) return 'timeout'
  if (UNREACHABLE.has(code)) return 'unreachable'
  return code === 'bad_gateway' ? 'bad_answer' : 'lost'
}
