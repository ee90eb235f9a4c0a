import type { Committer } from './committer.ts'
import { LedgerUnavailable, type RecordPlace } from './ports.ts'
import type { Draft } from './record.ts'

/** Limits the records that may wait for the store; one more is refused. */
const MAX_WAITING = 8192
/** Limits the records in one commit. */
const MAX_BATCH = 512

/** Microtasks that callers are left to come back in, so that all whom one event wakes get into the same commit. */
const GRACE_MICROTASKS = 8

export type Sequencer = ReturnType<typeof createSequencer>

/**
 * Appends single records of many concurrent callers by group commit: while one commit is under way, records wait, and all that wait go into the next. A commit that fails
 * rejects those that wait as well: they would wait longer for the same answer.
 */
export function createSequencer(committer: Committer, { maxWaiting = MAX_WAITING, maxBatch = MAX_BATCH } = {}) {
  let waiting: Waiter[] = []
  let committing = false

  async function commitAll(): Promise<void> {
    for (;;) {
      for (let count = 0; count < GRACE_MICROTASKS; count++) await undefined
      if (waiting.length === 0) break
      const batch = waiting.splice(0, maxBatch)
      try {
        const places = (await committer.commit(batch.map(({ draft }) => draft))) ?? []
        for (const [index, { resolve }] of batch.entries()) resolve(places[index] as RecordPlace)
      } catch (error) {
        const failed = [...batch, ...waiting]
        waiting = []
        const unavailable = new LedgerUnavailable('The ledger could not write.', { cause: error })
        for (const { reject } of failed) reject(unavailable)
      }
    }
    committing = false
  }

  return {
    /** Resolves when the record is durable. Rejects with LedgerUnavailable when the queue is full or the store fails. */
    append(draft: Draft): Promise<RecordPlace> {
      if (waiting.length >= maxWaiting) return Promise.reject(new LedgerUnavailable('The queue of the ledger is full.'))
      return new Promise((resolve, reject) => {
        waiting.push({ draft, resolve, reject })
        if (committing) return
        committing = true
        void commitAll()
      })
    },
  }
}

interface Waiter {
  readonly draft: Draft
  resolve(place: RecordPlace): void
  reject(error: Error): void
}
