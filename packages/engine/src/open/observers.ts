import type { Observe, ObservedRequest } from '@sallyport/core'
import type { Metrics } from '#metrics'
import type { TallyKeeper } from '#tally'

/** A record waits for others so long, in milliseconds, as lines of the log do, or until there are so many: a batch costs about a millisecond. */
const WAIT_MS = 100
const BATCH = 64

/** The readers of the records of a service. */
export interface Readers {
  readonly metrics: Pick<Metrics, 'observe' | 'settleBy'>
  readonly tally: Pick<TallyKeeper, 'observe'>
  /** They read in order; absent ones are left out. */
  readonly others: readonly (Observe | undefined)[]
  /** Writes what a process that exits has not written yet. */
  flush(): void
}

/** The phase `observe` of a service. */
export interface Observers {
  /** Takes the record of a request that has ended, at no cost but a place in a list. */
  readonly observe: Observe
  /** Hands all records that wait to their readers. */
  drain(): void
  close(): void
}

/**
 * Takes each record once, and hands records to their readers in batches. Metrics are read after their records were handed over, and so are
 * the counts on which the console rests. A request is counted last, so that what the others read of the counts is what came before it.
 */
export function createObservers({ metrics, tally, others, flush }: Readers): Observers {
  const readers = others.filter((observe) => observe !== undefined)
  let waiting: ObservedRequest[] = []
  let timer: NodeJS.Timeout | undefined
  let isDraining = false

  function read(observed: ObservedRequest): void {
    try {
      for (const observe of readers) observe(observed)
    } finally {
      const row = metrics.observe(observed)
      if (row !== undefined) tally.observe(observed, row)
    }
  }

  function drain(): void {
    // A reader that reads the counts reads those before its record.
    if (isDraining || waiting.length === 0) return
    clearTimeout(timer)
    process.off('exit', end)
    const batch = waiting
    waiting = []
    isDraining = true
    for (const observed of batch) {
      try {
        read(observed)
      } catch (error) {
        process.emitWarning(`A request was not observed: ${error}`, 'SallyportWarning')
      }
    }
    isDraining = false
  }

  function end(): void {
    drain()
    flush()
  }

  metrics.settleBy(drain)
  return {
    observe(observed) {
      if (waiting.length === 0) {
        timer = setTimeout(drain, WAIT_MS).unref()
        process.prependListener('exit', end)
      }
      if (waiting.push(observed) >= BATCH) drain()
    },
    drain,
    close: drain,
  }
}
