import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Database, isBusy } from './driver.ts'

/** Longest that one statement blocks this thread while another process writes. */
const BUSY_TIMEOUT_MS = 2000

/** Longest that opening goes on while other processes create or change the same file. */
const OPEN_DEADLINE_MS = 30_000
const OPEN_PAUSE_MS = 20

/**
 * Opens a database file for use by several processes, with write-ahead log and a full sync at every commit, and
 * brings it to the newest of `steps`. The folder is created. Rejects when the file is not a database, is of a newer
 * version than `steps`, or cannot be made durable.
 */
export async function openDatabase(path: string, steps: readonly string[]): Promise<Database> {
  await mkdir(dirname(path), { recursive: true })
  const deadline = performance.now() + OPEN_DEADLINE_MS
  for (;;) {
    // Until it is open it waits here, where the event loop lives, and not inside SQLite.
    const database = await connect(path, 0)
    try {
      makeDurable(database)
      migrate(database, steps)
      database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
      return database
    } catch (error) {
      database.close()
      if (!isBusy(error) || performance.now() > deadline) throw error
      await delay(OPEN_PAUSE_MS)
    }
  }
}

/** `synchronous` belongs to the connection and not to the file, so it is set and looked at on every opening. */
function makeDurable(database: Database): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode']
  if (mode !== 'wal') throw new Error(`SQLite refuses a write-ahead log here: journal_mode is ${mode}`)
  database.exec('PRAGMA synchronous = FULL')
  const FULL = 2
  const synchronous = database.prepare('PRAGMA synchronous').get()?.['synchronous']
  if (synchronous !== FULL) throw new Error(`SQLite refuses to sync in full: synchronous is ${synchronous}`)
}

/** Runs the steps that the file has not had, in one transaction: no process ever sees half a version. */
function migrate(database: Database, steps: readonly string[]): void {
  if (versionOf(database) === steps.length) return
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = versionOf(database)
    if (version > steps.length) {
      throw new Error(`The database has version ${version}; this Sallyport knows ${steps.length}.`)
    }
    for (const step of steps.slice(version)) database.exec(step)
    database.exec(`PRAGMA user_version = ${steps.length}`)
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

function versionOf(database: Database): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}
