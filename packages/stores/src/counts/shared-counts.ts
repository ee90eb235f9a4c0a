import type { Counts, CountTask, Taken } from '@sallyport/core'
import { within } from '../within.ts'
import { createMemoryCounts } from './memory-counts.ts'

export interface SharedCountsOptions {
  /** Longest that one request waits for the store, in milliseconds. */
  readonly deadlineMs: number
  /** Share of every limit that this process lets through while the store does not answer, above 0 to 1. */
  readonly share: number
  /** Called once at the start of an outage, with the error. */
  readonly onOutage?: (error: unknown) => void
}

/** How often the store is tried during an outage. */
const RETRY_MS = 500

/**
 * Counts in a store that several processes share. While it does not answer in time, this process counts its share of every
 * limit and says so (D44); one request in `RETRY_MS` tries the store, all others are answered at once.
 */
export function createSharedCounts(store: Counts, { deadlineMs, share, onOutage }: SharedCountsOptions): Counts {
  const local = createMemoryCounts()
  /** Requests in flight that are counted here. */
  const here = new Set<string>()
  let retryAt: number | undefined

  function takeHere(tasks: readonly CountTask[], flight: string): Taken {
    here.add(flight)
    const { states } = local.take(
      tasks.map((task) => shareOf(task, share)),
      flight,
    ) as Taken
    return { states, local: true }
  }

  return {
    async take(tasks, flight) {
      if (retryAt !== undefined) {
        if (performance.now() < retryAt) return takeHere(tasks, flight)
        retryAt = performance.now() + RETRY_MS
      }
      try {
        const taken = await within(deadlineMs, Promise.resolve(store.take(tasks, flight)), 'counts')
        retryAt = undefined
        return taken
      } catch (error) {
        if (retryAt === undefined) onOutage?.(error)
        retryAt = performance.now() + RETRY_MS
        return takeHere(tasks, flight)
      }
    },
    leave(keys, flight) {
      if (here.delete(flight)) local.leave(keys, flight)
      else store.leave(keys, flight)
    },
  }
}

function shareOf(task: CountTask, share: number): CountTask {
  const max = Math.max(1, Math.floor(task.max * share))
  const { limit } = task
  return { ...task, max, ...(limit && { limit: { ...limit, max, refill: limit.refill * share } }) }
}
