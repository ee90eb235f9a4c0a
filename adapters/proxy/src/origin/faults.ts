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

/** A head that is larger than a limit of ours: the operator hears which, the client only that. */
export class LargeHead extends SallyportError {
  readonly reason = "The head of the origin's answer is too large."

  constructor({ originHeadBytes }: Pick<Limits, 'originHeadBytes'>) {
    super('bad_gateway', `the head of the origin's answer is too large (limit: ${originHeadBytes} bytes)`)
  }
}

/** The origin was silent for too long. */
export class OriginLate extends Error {
  readonly code = 'ETIMEDOUT'
  readonly reason = 'The origin was silent for longer than timeouts.originHeaders.'

  constructor() {
    super('the origin was silent for longer than timeouts.originHeaders')
  }
}

/** Returns the reason of a failure for the client, where a limit or a time-out of ours has a name. */
export function clientReason(error: Error): string | undefined {
  if (error instanceof LargeHead || error instanceof OriginLate) return error.reason
  return 'code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT'
    ? 'The origin took no connection within timeouts.originConnect.'
    : undefined
}

/** Returns a failure as it is reported: that of a limit of ours by its name. */
export function explained(error: Error, limits: Pick<Limits, 'originHeadBytes'>): Error {
  return 'code' in error && HEAD_OVERFLOW.has(String(error.code)) ? new LargeHead(limits) : error
}

export function faultOf(error: Error): OriginFault {
  const code = 'code' in error ? String(error.code) : ''
  if (TOO_LATE.has(code)) return 'timeout'
  if (UNREACHABLE.has(code)) return 'unreachable'
  return code === 'bad_gateway' ? 'bad_answer' : 'lost'
}
