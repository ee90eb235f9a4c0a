/** Finds out which questions earned nobody a pass while they could be answered. */
export interface Unanswered {
  /** A question was asked; `labels` are its metric's. Times are milliseconds since the epoch. */
  asked(labels: readonly string[], at: number): void
  /** A question that was asked at this time earned a pass. */
  answered(labels: readonly string[], askedAt: number): void
  /** Counts the questions whose time is over. */
  settle(now: number): void
}

/** How long a question may be answered, and questions of so long are settled together. */
const ANSWERABLE_MS = 300_000
const COHORT_MS = 30_000

interface Sum {
  readonly labels: readonly string[]
  /** Questions less answers. */
  open: number
}

/**
 * `count` is called with questions that were abandoned. An answer may reach another process than its question did: what is
 * answered here and was asked there is set off against later questions, so that no count falls and the sum of all is right
 * as long as each has its part of both.
 */
export function createUnanswered(count: (labels: readonly string[], by: number) => void): Unanswered {
  const cohorts = new Map<number, Map<string, Sum>>()
  const settled = new Map<string, Sum>()

  function add(labels: readonly string[], at: number, by: number): void {
    const begun = Math.floor(at / COHORT_MS)
    const cohort = cohorts.get(begun) ?? new Map<string, Sum>()
    cohorts.set(begun, cohort)
    sumIn(cohort, labels).open += by
  }

  return {
    asked: (labels, at) => add(labels, at, 1),
    answered: (labels, askedAt) => add(labels, askedAt, -1),
    settle(now) {
      for (const [begun, cohort] of cohorts) {
        if ((begun + 1) * COHORT_MS + ANSWERABLE_MS > now) continue
        cohorts.delete(begun)
        for (const { labels, open } of cohort.values()) {
          const sum = sumIn(settled, labels)
          sum.open += open
          if (sum.open <= 0) continue
          count(labels, sum.open)
          sum.open = 0
        }
      }
    },
  }
}

function sumIn(sums: Map<string, Sum>, labels: readonly string[]): Sum {
  const key = labels.join('\n')
  const known = sums.get(key)
  if (known !== undefined) return known
  const begun = { labels, open: 0 }
  sums.set(key, begun)
  return begun
}
