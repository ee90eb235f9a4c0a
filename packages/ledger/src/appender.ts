import { type Appending, type LedgerStore, LedgerUnavailable, type Place } from './ports.ts'
import type { Draft } from './record.ts'

export interface AppenderOptions {
  /** Records that may wait for the store; one more is refused. */
  readonly maxWaiting?: number
  /** Records in one transaction. */
  readonly maxBatch?: number
}

const MAX_WAITING = 8192
const MAX_BATCH = 512

/** Appends one record at a time for many callers at once. */
export interface Appender {
  /** Resolves when the record is durable. Rejects with LedgerUnavailable when the queue is full or the store fails. */
  append(draft: Draft): Promise<Place>
}

/** Records that are handed over together while more are being made. */
const PART = 16

/**
 * Group commit: while the store is at work, records wait, and all that wait go into its next transaction. One at a time:
 * two would sync twice for the same records, and syncing is what takes the time. A store that can begin before the last
 * record is made gets them in parts. A transaction that fails takes with it all that wait behind it: they would wait
 * longer still for the same answer.
 */
export function createAppender(store: Pick<LedgerStore, 'append' | 'begin'>, options: AppenderOptions = {}): Appender {
  const { maxWaiting = MAX_WAITING, maxBatch = MAX_BATCH } = options
  let waiting: Waiter[] = []
  let underWay = false
  let scheduled = false
  /** What has begun in this turn, and how many of those that wait it has. */
  let begun: Appending | undefined
  let handed = 0

  function schedule(): void {
    if (scheduled || underWay || waiting.length === 0) return
    scheduled = true
    // After the microtasks: all callers that one event has woken get into the same transaction.
    queueMicrotask(() => {
      scheduled = false
      void commit()
    })
  }

  function draftsBetween(start: number, end: number) {
    return waiting.slice(start, end).map(({ draft }) => draft)
  }

  /** Only in the turn that commits: no transaction stays open while other events are waited for. */
  function handOver(): void {
    if (!scheduled || store.begin === undefined || waiting.length - handed < PART || waiting.length > maxBatch) return
    const part = draftsBetween(handed, waiting.length)
    if (begun === undefined) begun = store.begin(part)
    else begun.add(part)
    handed = waiting.length
  }

  async function commit(): Promise<void> {
    const rest = draftsBetween(handed, maxBatch)
    const appending = begun
    const batch = waiting.splice(0, maxBatch)
    begun = undefined
    handed = 0
    underWay = true
    try {
      const places = (await (appending === undefined ? store.append(rest) : appending.commit(rest))) ?? []
      for (const [index, { resolve }] of batch.entries()) resolve(places[index] as Place)
    } catch (error) {
      const failed = [...batch, ...waiting]
      waiting = []
      const unavailable = new LedgerUnavailable('The ledger could not write.', { cause: error })
      for (const { reject } of failed) reject(unavailable)
    } finally {
      underWay = false
      schedule()
    }
  }

  return {
    append(draft) {
      if (waiting.length >= maxWaiting) return Promise.reject(new LedgerUnavailable('The queue of the ledger is full.'))
      return new Promise((resolve, reject) => {
        waiting.push({ draft, resolve, reject })
        schedule()
        handOver()
      })
    },
  }
}

interface Waiter {
  readonly draft: Draft
  resolve(place: Place): void
  reject(error: Error): void
}
