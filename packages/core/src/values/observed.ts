import type { Decision } from './decision.ts'

/** What became of one request: what logs, metrics and spans are made from. */
export interface ObservedRequest {
  /** What its answer, its log line and its errors have in common. */
  readonly id: string
  /** Absent where nothing was decided: a head that was refused, a call of the API. */
  readonly decision?: Decision
  /**
   * `origin`: forwarded. `host`: the application around an adapter, or the server that asked before it forwards. `refusal`: a block, or a limit of ours. `check`: nobody,
   * it was described to `POST /v1/agentscan/check`, which has the id that its caller named.
   */
  readonly answeredBy: 'origin' | 'host' | 'api' | 'refusal' | 'check'
  /** Socket address, and the client that was resolved from it. */
  readonly peer: string
  readonly client: string
  /** Of a client that connects directly by TLS. */
  readonly ja4?: string
  readonly method: string
  /** As in the Host field; '' where there was none. */
  readonly host: string
  /** Without its query. */
  readonly path: string
  /** 0: the client left before anything was sent. */
  readonly status: number
  /** In bytes, on its connection, after its head and until its answer ended; absent where it shared that with other requests. */
  readonly bytesReceived?: number
  /** In bytes, of the head and the body; absent where `bytesReceived` is. */
  readonly bytesSent?: number
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
  /** From its head to the end of its answer. */
  readonly milliseconds: number
  /** Of that, until it was decided. */
  readonly inspectionMilliseconds?: number
  /** Why it was refused although nothing was decided against it. */
  readonly refusedFor?: string
}

/** Learns of every request once, when its answer has ended. Does not wait, and does not throw. */
export type Observe = (observed: ObservedRequest) => void
