/** Why a connection or a request was refused or cut, although nobody decided against its client. */
export const REFUSAL_CAUSES = [
  'connections',
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
] as const

export type RefusalCause = (typeof REFUSAL_CAUSES)[number]

/** Counts refusals by cause. */
export interface Refusals {
  readonly counts: Readonly<Record<RefusalCause, number>>
  count(cause: RefusalCause): void
}

export function createRefusals(onRefused: (cause: RefusalCause) => void = () => {}): Refusals {
  const counts = Object.fromEntries(REFUSAL_CAUSES.map((cause) => [cause, 0])) as Record<RefusalCause, number>
  return {
    counts,
    count(cause) {
      counts[cause]++
      onRefused(cause)
    },
  }
}
