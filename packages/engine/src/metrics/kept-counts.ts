import { type Scraped, sumCounted, summed } from './exposition.ts'

/** The counts of a service's processes, kept so that no sum falls when one of them is late or gone. */
export interface KeptCounts<Process> {
  /** Replaces an earlier report of a process; counters and histograms only. One that was read before that, and comes late, is dropped. */
  report(from: Process, counted: Scraped): void
  /** A process reports nothing more: what it counted is kept in one sum with that of all who ended. */
  end(from: Process): void
  /** Returns what was counted by processes that are not heard at a scrape, the ended ones included. */
  beside(heard: ReadonlySet<Process>): readonly Scraped[]
}

export function createKeptCounts<Process>(): KeptCounts<Process> {
  const last = new Map<Process, Scraped>()
  let ended: Scraped = []
  return {
    report(from, counted) {
      // While a process lives no value of it falls.
      if (sumCounted(counted) >= sumCounted(last.get(from) ?? [])) last.set(from, counted)
    },
    end(from) {
      const counted = last.get(from)
      if (counted === undefined) return
      last.delete(from)
      ended = summed([ended, counted])
    },
    beside: (heard) => [ended, ...[...last].filter(([from]) => !heard.has(from)).map(([, counted]) => counted)],
  }
}
