import { errorCode, SallyportError } from '@sallyport/core'
import type { Limits } from '@sallyport/engine/limits'

const TOO_LATE = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

/** Names the client's error for a failure of the origin: a time-out is 504, any other failure 502. */
export function classifyFailure(error: Error): 'bad_gateway' | 'gateway_timeout' {
  return TOO_LATE.has(errorCode(error)) ? 'gateway_timeout' : 'bad_gateway'
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EACCES',
])

/** Reports whether a server could not even be connected to: nothing was sent. */
export function isUnreached(error: Error): boolean {
  const code = errorCode(error)
  return UNREACHABLE.has(code) || code === 'UND_ERR_CONNECT_TIMEOUT'
}

const HEAD_OVERFLOW = new Set(['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW'])

/** Says that a head exceeds our limit: the operator learns which limit, the client only the fact. */
export class LargeHead extends SallyportError {
  readonly reason = 'The response headers of the origin are too large.'

  constructor({ originHeadBytes }: Pick<Limits, 'originHeadBytes'>) {
    super('bad_gateway', `the response headers of the origin are too large (limit: ${originHeadBytes} bytes)`)
  }
}

/** Says that the origin was silent for too long. */
export class OriginLate extends Error {
  readonly code = 'ETIMEDOUT'
  readonly reason = 'The origin was silent for longer than timeouts.originHeaders.'

  constructor() {
    super('the origin was silent for longer than timeouts.originHeaders')
  }
}

/** Returns the reason of a failure for the client, where one of our limits or time-outs caused it. */
export function clientReason(error: Error): string | undefined {
  if (error instanceof LargeHead || error instanceof OriginLate) return error.reason
  return errorCode(error) === 'UND_ERR_CONNECT_TIMEOUT'
    ? 'The origin accepted no connection within timeouts.originConnect.'
    : undefined
}

/** Returns a failure as it is reported: a failure by one of our limits names the limit. */
export function explained(error: Error, limits: Pick<Limits, 'originHeadBytes'>): Error {
  return HEAD_OVERFLOW.has(errorCode(error)) ? new LargeHead(limits) : error
}

/** Labels a failure, which metrics count. */
export function originFault(error: Error): 'timeout' | 'unreachable' | 'bad_answer' | 'lost' {
  const code = errorCode(error)
  if (TOO_LATE.has(code)) return 'timeout'
  if (UNREACHABLE.has(code)) return 'unreachable'
  return code === 'bad_gateway' ? 'bad_answer' : 'lost'
}
