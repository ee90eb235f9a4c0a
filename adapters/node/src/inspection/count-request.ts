import type { Counted, Decision } from '@sallyport/core'

/** Counts decided requests: what `open()` resolves to; a stand-in may leave it out, and then nothing is counted. */
export interface CountingHost {
  /** Counts a request by the rules that count; the decision as it is after that. Absent: nothing is counted. */
  count?(decision: Decision, fields?: readonly string[]): Counted | Promise<Counted>
}

/** How the answer to a counted request ends. */
export interface CountedAnswer {
  /** Calls it when the answer has ended, at once where it has. */
  onEnd(ended: () => void): void
  /** The status, where the answer is the origin's or the application's own. */
  status(): number | undefined
}

/**
 * A decision with what was counted: at once where the counts are in memory, else a promise. Where nothing can count, the
 * decision stands as it is and a process warning says so.
 */
export function countRequest(
  host: CountingHost,
  decision: Decision,
  fields: readonly string[],
  answer: CountedAnswer,
): Decision | Promise<Decision> {
  if (host.count === undefined) return decision
  try {
    const counted = host.count(decision, fields)
    if (!(counted instanceof Promise)) return followed(counted, answer)
    return counted.then(
      (later) => followed(later, answer),
      (error: unknown) => uncounted(decision, error),
    )
  } catch (error) {
    return uncounted(decision, error)
  }
}

function followed({ decision, ended }: Counted, answer: CountedAnswer): Decision {
  if (ended !== undefined) answer.onEnd(() => ended(answer.status()))
  return decision
}

function uncounted(decision: Decision, error: unknown): Decision {
  process.emitWarning(`A request passed uncounted: ${error}`, 'SallyportWarning')
  return decision
}
