import type { Database, SqlRow } from '../driver.ts'

/** A log so long never came to its end: it is begun anew with everybody held up, for no longer than so. */
const LONG_PAGES = 8000
const RESTART_WAIT_MS = 50

/** Longest that `empty` goes on while others read or fold, and the pause between two tries. */
const EMPTY_DEADLINE_MS = 10_000
const EMPTY_PAUSE_MS = 20

/** The write-ahead log of a database, whose pages are folded into its file: what SQLite calls a checkpoint. */
export interface WriteAheadLog {
  /** Pages that are not in the file yet. */
  unfolded(): number
  /** Folds what it can without waiting for anybody. */
  fold(): void
  /**
   * The same for the end of the log, by a writer. Only when all of it is in the file does the next writer begin it anew,
   * and of several one always was quicker: where it has become long, all are held up for the moment that it takes.
   */
  foldEnd(): void
  /** Folds all and cuts the log to nothing. Throws where others hold on to it for too long. */
  empty(): void
}

export function createWriteAheadLog(
  database: Database,
  { deadlineMs = EMPTY_DEADLINE_MS, longPages = LONG_PAGES } = {},
): WriteAheadLog {
  const look = database.prepare('PRAGMA wal_checkpoint(NOOP)')
  const fold = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  const restart = database.prepare('PRAGMA wal_checkpoint(RESTART)')
  const empty = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  return {
    unfolded() {
      const row = look.get()
      return count(row, 'log') - count(row, 'checkpointed')
    },
    fold() {
      fold.get()
    },
    foldEnd() {
      if (count(look.get(), 'log') < longPages) fold.get()
      else withTimeout(database, RESTART_WAIT_MS, () => restart.get())
    },
    empty() {
      const deadline = performance.now() + deadlineMs
      // That it could not be done is no error to SQLite. It waits for readers itself, and not for another who folds.
      while (count(empty.get(), 'busy') !== 0) {
        if (performance.now() > deadline) throw new Error('The log could not be emptied: somebody goes on reading it.')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EMPTY_PAUSE_MS)
      }
    },
  }
}

function withTimeout(database: Database, milliseconds: number, work: () => unknown): void {
  const before = Number(database.prepare('PRAGMA busy_timeout').get()?.['timeout'])
  database.exec(`PRAGMA busy_timeout = ${milliseconds}`)
  try {
    work()
  } finally {
    database.exec(`PRAGMA busy_timeout = ${before}`)
  }
}

function count(row: SqlRow | undefined, column: 'busy' | 'log' | 'checkpointed'): number {
  return Number(row?.[column] ?? 0)
}
