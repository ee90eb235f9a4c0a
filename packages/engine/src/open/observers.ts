import type { Observe, ObservedRequest } from '@sallyport/core'
import type { Metrics } from '#metrics'
import type { TallyKeeper } from '#tally'

/** A record is held for at most this time, in milliseconds, or until `BATCH` records wait: a batch costs about a millisecond. */
const WAIT_MS = 100
const BATCH = 64

/** Read the records of a service. */
export interface Readers {
  readonly metrics: Pick<Metrics, 'observe' | 'settleBy'>
  readonly tally: Pick<TallyKeeper, 'observe'>
  /** These readers are called in order; absent readers are skipped. */
  readonly others: readonly (Observe | undefined)[]
  /** Writes the records that a process has not written when it exits. */
  flush(): void
}

/**
 * Takes each record once and hands records to their readers in batches. Metrics, and the counts for the console, are read after all waiting
 * records. Requests are counted last, so that other readers see only counts of earlier requests.
 */
export function createObservers({ metrics, tally, others, flush }: Readers) {
  const readers = others.filter((observe) => observe !== undefined)
  let waiting: ObservedRequest[] = []
  let timer: NodeJS.Timeout | undefined
  let isDraining = false

  function read(observed: ObservedRequest): void {
    try {
      for (const observe of readers) observe(observed)
    } finally {
      tally.observe(observed, metrics.observe(observed))
    }
  }

  function drain(): void {
    // A reader that reads the counts sees the counts before its record.
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
    /** Takes the record of a request that has ended; it only appends it to a list. */
    observe(observed: ObservedRequest): void {
      if (waiting.length === 0) {
        timer = setTimeout(drain, WAIT_MS).unref()
        process.prependListener('exit', end)
      }
      if (waiting.push(observed) >= BATCH) drain()
    },
    /** Delivers all waiting records to their readers. */
    drain,
    close: drain,
  }
}
