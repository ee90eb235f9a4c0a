import { CUT_CAUSES } from '../edge/cut-causes.ts'

/** Why a connection or a request was refused or cut, although nobody decided against its client. */
const REFUSAL_CAUSES = [
  ...CUT_CAUSES,
  'pipelined',
  'head',
  'overload',
  'in_flight',
  'tunnels',
  'origin_queue',
  'body_bytes',
  'buffered_bytes',
  'slow_body',
  'slow_reader',
  'fault',
] as const

export type RefusalCause = (typeof REFUSAL_CAUSES)[number]

/** Counts refusals by cause. */
export interface Refusals {
  /** A request that is answered; who observes requests counts it there. */
  count(cause: RefusalCause): void
  /** A connection or a request that is cut without an answer of which anybody observes the end. */
  cut(cause: RefusalCause): void
}

export function createRefusals(
  onRefused: (cause: RefusalCause) => void = () => {},
  onCut: (cause: RefusalCause) => void = () => {},
): Refusals {
  return {
    count: onRefused,
    cut(cause) {
      onRefused(cause)
      onCut(cause)
    },
  }
}
