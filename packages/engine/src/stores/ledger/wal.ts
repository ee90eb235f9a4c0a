import type { Database, SqlRow } from '../sqlite/driver.ts'

/** Pages from which on a log is copied into the file: some five thousand records, which takes some milliseconds. */
const CHECKPOINT_PAGES = 1_000

/** Writes between two looks at the log: a look costs as much as ten records. */
const LOOK_EVERY = 16

/** A log of so many pages never reached its end: it is restarted while other connections wait, for this long at most. */
const RESTART_PAGES = 8_000
const RESTART_WAIT_MS = 50

/** Longest that `truncate` waits for readers and other checkpoints, and the pause between two tries. */
const TRUNCATE_DEADLINE_MS = 10_000
const TRUNCATE_PAUSE_MS = 20

export type Wal = ReturnType<typeof createWal>

/** Opens the write-ahead log of a database (https://sqlite.org/wal.html). */
export function createWal(
  database: Database,
  {
    deadlineMs = TRUNCATE_DEADLINE_MS,
    checkpointPages = CHECKPOINT_PAGES,
    restartPages = RESTART_PAGES,
    lookEvery = LOOK_EVERY,
  } = {},
) {
  const look = database.prepare('PRAGMA wal_checkpoint(NOOP)')
  const passive = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  const restart = database.prepare('PRAGMA wal_checkpoint(RESTART)')
  const truncate = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  let writes = 0
  return {
    /**
     * To be called after each write: copies a log that has grown into the file, so that the next write restarts it. Among several writers
     * one has always written meanwhile: a log that became long is restarted while the others wait.
     */
    keepShort(): void {
      if (++writes % lookEvery !== 0) return
      try {
        const row = look.get()
        if (count(row, 'log') - count(row, 'checkpointed') < checkpointPages) return
        if (count(row, 'log') < restartPages) passive.get()
        else withBusyTimeout(database, RESTART_WAIT_MS, () => restart.get())
      } catch {
        // Nothing is lost: what a full disk could not take stays in the log, and is tried again.
      }
    },
    /** Copies everything and empties the log. Throws where readers hold it for too long. */
    truncate(): void {
      const deadline = performance.now() + deadlineMs
      // To SQLite a checkpoint that others prevented is no error.
      while (count(truncate.get(), 'busy') !== 0) {
        if (performance.now() > deadline)
          throw new Error('The log could not be emptied: another connection is still reading it.')
        sleep(TRUNCATE_PAUSE_MS)
      }
    },
  }
}

/** Blocks this thread. */
export function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/** Runs work whose statements wait so long for other connections. */
export function withBusyTimeout<T>(database: Database, milliseconds: number, work: () => T): T {
  const before = Number(database.prepare('PRAGMA busy_timeout').get()?.['timeout'])
  database.exec(`PRAGMA busy_timeout = ${milliseconds}`)
  try {
    return work()
  } finally {
    database.exec(`PRAGMA busy_timeout = ${before}`)
  }
}

function count(row: SqlRow | undefined, column: 'busy' | 'log' | 'checkpointed'): number {
  return Number(row?.[column] ?? 0)
}
