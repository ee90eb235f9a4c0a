import { type LedgerStore, LedgerUnavailable, type Overlap, type Place } from './ports.ts'
import type { Draft } from './record.ts'

export interface AppenderOptions {
  /** Records that may wait for the store; one more is refused. */
  readonly maxWaiting?: number
  /** Records in one transaction. */
  readonly maxBatch?: number
}

const MAX_WAITING = 8192
const MAX_BATCH = 512

/**
 * Half of the records go ahead where to write all of them takes less than so many times as long as to make them: two
 * transactions sync once more, which is half of writing or so, and spare the time in which the store waits for records.
 */
const WORTH_IT = 2

const NO_OVERLAP: Overlap = { appends: 1, elapsed: () => 0, afterTurn: (run) => queueMicrotask(run) }

/** Appends one record at a time for many callers at once. */
export interface Appender {
  /** Resolves when the record is durable. Rejects with LedgerUnavailable when the queue is full or the store fails. */
  append(draft: Draft): Promise<Place>
}

/**
 * Group commit: while the store is at work, records wait, and all that wait go into its next transaction. Two would sync
 * twice for the same records, and mostly syncing is what takes the time. Where to make the records of one event takes
 * longer than to write them, half of them go ahead, if the store can be at both: while they are written the others are
 * made. A transaction that fails takes with it all that wait behind it: they would wait longer still for the same answer.
 */
export function createAppender(
  store: Pick<LedgerStore, 'append' | 'overlap'>,
  options: AppenderOptions = {},
): Appender {
  const { maxWaiting = MAX_WAITING, maxBatch = MAX_BATCH } = options
  const { appends: atOnce, elapsed, afterTurn } = store.overlap ?? NO_OVERLAP
  let waiting: Waiter[] = []
  let underWay = 0
  let scheduled = false
  /** Records whose callers wait for an answer, and what they were when the last was given. */
  let unanswered = 0
  let callers = 0
  /** In milliseconds: how long a transaction is written, and how long one record of it is made. */
  let writing = Number.POSITIVE_INFINITY
  let making = Number.POSITIVE_INFINITY
  let answeredAt = 0
  let makingSince = 0

  function schedule(): void {
    if (scheduled || waiting.length === 0) return
    scheduled = true
    makingSince = elapsed()
    // All callers that one event has woken get into the same transaction.
    afterTurn(() => {
      scheduled = false
      if (underWay === 0) void commit()
    })
  }

  function halfGoesAhead(): boolean {
    if (atOnce === 1 || underWay >= atOnce || waiting.length < callers / 2) return false
    return writing < callers * making * WORTH_IT
  }

  async function commit(): Promise<void> {
    if (waiting.length === 0) return
    const batch = waiting.splice(0, maxBatch)
    underWay++
    try {
      const appending = store.append(batch.map(({ draft }) => draft))
      const given = elapsed()
      making = smoothed(making, (given - makingSince) / batch.length)
      makingSince = given
      const places = (await appending) ?? []
      const answered = elapsed()
      writing = smoothed(writing, answered - Math.max(given, answeredAt))
      answeredAt = answered
      callers = unanswered
      unanswered -= batch.length
      for (const [index, { resolve }] of batch.entries()) resolve(places[index] as Place)
    } catch (error) {
      const failed = [...batch, ...waiting]
      unanswered -= failed.length
      waiting = []
      const unavailable = new LedgerUnavailable('The ledger could not write.', { cause: error })
      for (const { reject } of failed) reject(unavailable)
    } finally {
      underWay--
      schedule()
    }
  }

  return {
    append(draft) {
      if (waiting.length >= maxWaiting) return Promise.reject(new LedgerUnavailable('The queue of the ledger is full.'))
      return new Promise((resolve, reject) => {
        waiting.push({ draft, resolve, reject })
        unanswered++
        schedule()
        if (halfGoesAhead()) void commit()
      })
    },
  }
}

/** Follows what becomes less at once, and what becomes more step by step: now and then something comes between. */
function smoothed(before: number, measured: number): number {
  const STEPS = 8
  return measured < before ? measured : before + (measured - before) / STEPS
}

interface Waiter {
  readonly draft: Draft
  resolve(place: Place): void
  reject(error: Error): void
}
