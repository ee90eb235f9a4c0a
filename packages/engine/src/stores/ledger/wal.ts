import type { Database, SqlRow } from '../sqlite/driver.ts'

/** A log of so many pages never reached its end: it is restarted while other connections wait, for this long at most. */
const RESTART_PAGES = 8000
const RESTART_WAIT_MS = 50

/** Longest that `truncate` waits for readers and other checkpoints, and the pause between two tries. */
const TRUNCATE_DEADLINE_MS = 10_000
const TRUNCATE_PAUSE_MS = 20

/** The write-ahead log of a database (https://sqlite.org/wal.html). */
export interface Wal {
  /** Pages that no checkpoint has copied into the file yet. */
  pendingPages(): number
  /** Copies what it can into the file without waiting. */
  checkpoint(): void
  /**
   * A checkpoint of the writer, to the end of the log, so that the next write restarts it. Among several writers one
   * has always written meanwhile: a log that became long is restarted while the others wait.
   */
  finishCheckpoint(): void
  /** Copies everything and empties the log. Throws where readers hold it for too long. */
  truncate(): void
}

export function createWal(
  database: Database,
  { deadlineMs = TRUNCATE_DEADLINE_MS, restartPages = RESTART_PAGES } = {},
): Wal {
  const look = database.prepare('PRAGMA wal_checkpoint(NOOP)')
  const passive = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  const restart = database.prepare('PRAGMA wal_checkpoint(RESTART)')
  const truncate = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  return {
    pendingPages() {
      const row = look.get()
      return count(row, 'log') - count(row, 'checkpointed')
    },
    checkpoint() {
      passive.get()
    },
    finishCheckpoint() {
      if (count(look.get(), 'log') < restartPages) passive.get()
      else withBusyTimeout(database, RESTART_WAIT_MS, () => restart.get())
    },
    truncate() {
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
