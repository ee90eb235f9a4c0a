import { type Database, isBusy } from '../sqlite/driver.ts'
import { rollBack } from '../sqlite/open-database.ts'
import { sleep, withBusyTimeout } from './wal.ts'

/** Longest that a transaction waits for the lock, and the longest pause between two tries. */
const LOCK_DEADLINE_MS = 2_000
const LOCK_PAUSE_MS = 1

export type Transactions = ReturnType<typeof createTransactions>

/** Creates the transactions of the one connection that writes a ledger file. */
export function createTransactions(database: Database) {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  let reserved = false

  /** SQLite's own wait doubles its pauses, so that one of many writers may starve. */
  function lock(): void {
    const deadline = performance.now() + LOCK_DEADLINE_MS
    for (;;) {
      try {
        begin.run()
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
        sleep(Math.random() * LOCK_PAUSE_MS)
      }
    }
  }

  function rollback(): void {
    reserved = false
    rollBack(database)
  }

  function run<T>(work: () => T): T {
    try {
      const result = work()
      commit.run()
      reserved = false
      return result
    } catch (error) {
      rollback()
      throw error
    }
  }

  /** Gives a reservation back. */
  function release(): void {
    if (reserved) rollback()
  }

  return {
    /** Runs work that writes; what it throws rolls back. Ends a reservation first. */
    write<T>(work: () => T): T {
      release()
      withBusyTimeout(database, 0, lock)
      return run(work)
    },
    /** Takes the write lock for the next `commit`, and reads. */
    reserve<T>(read: () => T): T {
      release()
      withBusyTimeout(database, 0, lock)
      reserved = true
      return read()
    },
    /** Runs work that writes in the reserved transaction, or in a new one. */
    commit<T>(work: () => T): T {
      if (!reserved) withBusyTimeout(database, 0, lock)
      return run(work)
    },
    isReserved: () => reserved,
    release,
  }
}
