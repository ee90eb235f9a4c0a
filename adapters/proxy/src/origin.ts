import type { Limits, Timeouts } from '@sallyport/open/limits'
import { createOriginConnections } from './origin-connections.ts'
import { type Forwarded, Relay, type RelayHooks } from './relay.ts'
import type { Held } from './request-body.ts'
import { Slots } from './slots.ts'

/** The client's error for a failure of the origin. */
export type OriginFailure = 'bad_gateway' | 'gateway_timeout'

const TOO_LATE = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

/** A time-out is 504, any other failure 502. */
export function failureOf(error: Error): OriginFailure {
  return 'code' in error && TOO_LATE.has(String(error.code)) ? 'gateway_timeout' : 'bad_gateway'
}

/** What failed, for metrics. */
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

export function faultOf(error: Error): OriginFault {
  const code = 'code' in error ? String(error.code) : ''
  if (TOO_LATE.has(code)) return 'timeout'
  if (UNREACHABLE.has(code)) return 'unreachable'
  return code === 'bad_gateway' ? 'bad_answer' : 'lost'
}

/** The origin, with a bound on the connections to it. */
export interface Origin {
  /**
   * Sends a request on, once there is something to send, and streams the answer back. Where nothing of an answer was sent
   * yet, one of the hooks is called, once; a failure after that destroys the client's connection, because a cut answer
   * must not look whole. Never throws.
   */
  forward(forwarded: Forwarded, hooks: RelayHooks): void
  /** Closes the connections when the last request has ended; none may be forwarded after it. */
  retire(): void
  /** Cuts the connections. */
  close(): Promise<void>
  /** Requests that wait for a connection. */
  readonly queued: number
}

export function openOrigin(upstream: URL, limits: Limits, timeouts: Timeouts): Origin {
  const connections = createOriginConnections(upstream, limits.originConnections, timeouts.originConnect)
  const slots = new Slots({
    total: limits.originConnections,
    waiting: limits.originQueue,
    waitMs: timeouts.queue,
  })
  const held: Held = { bytes: 0 }
  const parts = { slots, connections, held, limits }
  let inFlight = 0
  let retired = false
  return {
    forward(forwarded, hooks) {
      inFlight++
      forwarded.exchange.onEnd(() => {
        inFlight--
        if (retired && inFlight === 0) void connections.close()
      })
      new Relay(forwarded, parts, hooks).begin()
    },
    retire() {
      retired = true
      if (inFlight === 0) void connections.close()
    },
    close: connections.close,
    get queued() {
      return slots.load.waiting
    },
  }
}
