import type { CutCause } from '../edge/edge-options.ts'

/** Says why a connection or a request was refused or cut without a decision against its client. */
export type RefusalCause =
  | CutCause
  | 'pipelined'
  | 'head'
  | 'overload'
  | 'in_flight'
  | 'tunnels'
  | 'origin_queue'
  | 'body_bytes'
  | 'buffered_bytes'
  | 'slow_body'
  | 'slow_reader'
  | 'fault'

/** Counts refusals by cause. */
export interface Refusals {
  /** Counts a request that is answered; an observer of requests counts it there. */
  count(cause: RefusalCause): void
  /** Counts a connection or a request that is cut without an answer, whose end no observer sees. */
  cut(cause: RefusalCause): void
}

export function createRefusals(
  onRefused: (cause: RefusalCause) => void,
  onCut: (cause: RefusalCause) => void,
): Refusals {
  return {
    count: onRefused,
    cut(cause) {
      onRefused(cause)
      onCut(cause)
    },
  }
}
