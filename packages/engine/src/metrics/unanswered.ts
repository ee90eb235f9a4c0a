/** How long a challenge may be answered; challenges of one `COHORT_MS` expire together. */
const ANSWERABLE_MS = 300_000
const COHORT_MS = 30_000

interface Sum {
  readonly labels: readonly string[]
  /** Counts challenges less solutions. */
  open: number
}

/**
 * Calls `count` with challenges that were not solved while they could be answered. Labels belong to the metric, times are milliseconds
 * since the epoch. A solution may reach another process than its challenge did: a solution without a challenge here is set off against
 * later challenges. So no count falls, and the sum over all processes is right as long as each handles both.
 */
export function createUnanswered(count: (labels: readonly string[], by: number) => void) {
  const cohorts = new Map<number, Map<string, Sum>>()
  const settled = new Map<string, Sum>()

  function add(labels: readonly string[], at: number, by: number): void {
    const begun = Math.floor(at / COHORT_MS)
    const cohort = cohorts.get(begun) ?? new Map<string, Sum>()
    cohorts.set(begun, cohort)
    sumIn(cohort, labels).open += by
  }

  return {
    /** Records that a challenge was issued. */
    asked: (labels: readonly string[], at: number): void => add(labels, at, 1),
    /** Records that a challenge issued at `askedAt` earned a pass. */
    answered: (labels: readonly string[], askedAt: number): void => add(labels, askedAt, -1),
    /** Counts the challenges that have expired. */
    settle(now: number): void {
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
  const sum = sums.get(key) ?? { labels, open: 0 }
  sums.set(key, sum)
  return sum
}
