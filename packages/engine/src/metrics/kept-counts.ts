import { type Scraped, sumCounted, summed } from './exposition.ts'

/** Keeps the counts of a service's processes, so that no sum falls when one of them is late or gone. */
export function createKeptCounts<Process>() {
  const last = new Map<Process, Scraped>()
  let ended: Scraped = []
  return {
    /** Replaces an earlier report of a process; counters and histograms only. A report that was read before that, and comes late, is dropped. */
    report(from: Process, counted: Scraped): void {
      // While a process lives no value of it falls.
      if (sumCounted(counted) >= sumCounted(last.get(from) ?? [])) last.set(from, counted)
    },
    /** A process reports nothing more: its counts are kept in one sum with those of all that ended. */
    end(from: Process): void {
      const counted = last.get(from)
      if (counted === undefined) return
      last.delete(from)
      ended = summed([ended, counted])
    },
    /** Returns what was counted by processes that are not heard at a scrape, the ended ones included. */
    beside: (heard: ReadonlySet<Process>): readonly Scraped[] => [
      ended,
      ...[...last].filter(([from]) => !heard.has(from)).map(([, counted]) => counted),
    ],
  }
}
