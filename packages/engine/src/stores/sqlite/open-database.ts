import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SallyportError } from '@sallyport/core/host'
import { makeFolder } from '#files'
import { connect, connectReadOnly, type Database, IN_MEMORY, isBusy } from './driver.ts'

/** Longest that one statement blocks this thread while another process writes. */
const BUSY_TIMEOUT_MS = 2000

/** Longest that opening is retried while other processes create or change the same file. */
const OPEN_DEADLINE_MS = 30_000
const OPEN_PAUSE_MS = 20

/**
 * Opens a database file for use by several processes, with write-ahead log and a full sync at every commit, and
 * brings it to the newest of `steps`. The folder is created; a new file has pages of `pageBytes`. Rejects when the file
 * is not a database, was written by another release, or cannot be made durable.
 */
export async function openDatabase(path: string, steps: readonly string[], pageBytes?: number): Promise<Database> {
  if (path !== IN_MEMORY) makeFolder(dirname(path))
  const deadline = performance.now() + OPEN_DEADLINE_MS
  for (;;) {
    // Until it is open it waits here, where the event loop lives, and not inside SQLite.
    let database: Database | undefined
    try {
      database = await connect(path, 0)
      // Before the log, with which the size of a page is settled; a file that is there keeps its own.
      if (pageBytes !== undefined) database.exec(`PRAGMA page_size = ${pageBytes}`)
      if (path !== IN_MEMORY) makeDurable(database)
      migrate(database, path, steps)
      database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
      return database
    } catch (error) {
      database?.close()
      if (!isBusy(error) || performance.now() > deadline) throw addPath(error, path)
      await delay(OPEN_PAUSE_MS)
    }
  }
}

/** Adds the path of the file to an error, as errors of the file system have it: SQLite names none. */
function addPath(error: unknown, path: string): unknown {
  const isOurs = error instanceof SallyportError
  return error instanceof Error && !isOurs ? Object.assign(error, { path }) : error
}

/** Opens a database file only to read it; a missing one is empty. Rejects when it is no database or not at the newest of `steps`. */
export async function openReadOnly(path: string, steps: readonly string[]): Promise<Database> {
  if (!existsSync(path)) return openDatabase(IN_MEMORY, steps)
  let database: Database | undefined
  try {
    database = await connectReadOnly(path)
    const version = readVersion(database)
    if (version === steps.length) return database
    throw new SallyportError('corrupt_data', otherVersion(path, version, steps.length))
  } catch (error) {
    database?.close()
    throw addPath(error, path)
  }
}

/** Returns a function that closes a database, however often it is called. */
export function closeOnce(database: Database): () => void {
  let isOpen = true
  return () => {
    if (isOpen) database.close()
    isOpen = false
  }
}

/** Longest that one statement blocks this thread in a store that uses `whenFree`. */
const SHORT_BUSY_MS = 10

/** Longest that a write waits for other processes, and the longest pause between two tries. */
const FREE_DEADLINE_MS = 5_000
const FREE_PAUSE_MS = 20

/** Makes statements give up a lock soon, for a store that waits for it with `whenFree`. */
export function setImpatient(database: Database): void {
  database.exec(`PRAGMA busy_timeout = ${SHORT_BUSY_MS}`)
}

/** Runs a write again while another process holds the lock. SQLite's own wait blocks the event loop, and can starve one of many writers. */
export async function whenFree<T>(write: () => T): Promise<T> {
  const deadline = performance.now() + FREE_DEADLINE_MS
  for (;;) {
    try {
      return write()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      await delay(Math.random() * FREE_PAUSE_MS)
    }
  }
}

/** `synchronous` belongs to the connection and not to the file, so it is set and looked at on every opening. */
export function makeDurable(database: Database): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode']
  if (mode !== 'wal') throw new Error(`SQLite cannot use a write-ahead log here: journal_mode is ${mode}`)
  database.exec('PRAGMA synchronous = FULL')
  const FULL = 2
  const synchronous = database.prepare('PRAGMA synchronous').get()?.['synchronous']
  if (synchronous !== FULL) throw new Error(`SQLite cannot sync in full: synchronous is ${synchronous}`)
}

/** Runs the steps that the file has not had, in one transaction: no process ever sees half a version. */
function migrate(database: Database, path: string, steps: readonly string[]): void {
  if (readVersion(database) === steps.length) return
  inTransaction(database, () => {
    const version = readVersion(database)
    if (version > steps.length) {
      throw new SallyportError('corrupt_data', otherVersion(path, version, steps.length))
    }
    for (const step of steps.slice(version)) database.exec(step)
    database.exec(`PRAGMA user_version = ${steps.length}`)
  })
}

function otherVersion(path: string, version: number, known: number): string {
  return (
    `The file ${path} has tables of version ${version}, but this Sallyport supports version ${known}. ` +
    'Open it with the release that wrote it, or move it away to create a new one.'
  )
}

/** Runs `work` in one transaction that writes from its start: what it throws leaves nothing behind. */
export function inTransaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** Ends a transaction that failed, if there still is one: SQLite itself ends it where the disk is full. */
export function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // The earlier failure is the error to report.
  }
}

function readVersion(database: Database): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}
