import { type LedgerStore, LedgerUnavailable, type Place } from './ports.ts'
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

/**
 * Group commit: while the store is at work, records wait, and all that wait go into its next transaction. One at a time:
 * two would sync twice for the same records, and syncing is what takes the time. A transaction
 * that fails takes with it all that wait behind it: they would wait longer still for the same answer.
 */
export function createAppender(store: Pick<LedgerStore, 'append'>, options: AppenderOptions = {}): Appender {
  const { maxWaiting = MAX_WAITING, maxBatch = MAX_BATCH } = options
  let waiting: Waiter[] = []
  let underWay = false
  let scheduled = false

  function schedule(): void {
    if (scheduled || underWay || waiting.length === 0) return
    scheduled = true
    // After the microtasks: all callers that one event has woken get into the same transaction.
    queueMicrotask(() => {
      scheduled = false
      void commit()
    })
  }

  async function commit(): Promise<void> {
    const batch = waiting.splice(0, maxBatch)
    underWay = true
    try {
      const places = (await store.append(batch.map(({ draft }) => draft))) ?? []
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
      })
    },
  }
}

interface Waiter {
  readonly draft: Draft
  resolve(place: Place): void
  reject(error: Error): void
}
