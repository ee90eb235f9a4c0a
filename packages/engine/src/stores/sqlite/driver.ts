import { closeSync, openSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { OWN_FILE } from '#files'
import { loadInstalled } from '../load-installed.ts'

/** A value that goes into or comes out of a column. */
export type SqlValue = null | number | string | Uint8Array

/** A row as the driver gives it. */
export type SqlRow = Readonly<Record<string, SqlValue>>

/** The part of `node:sqlite` that is used here; @sallyport/sqlite has the same. */
export interface Statement {
  /** With values in the order of the `?` of the statement, which is twice as fast as by name. */
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint }
  run(parameters?: SqlRow): { readonly changes: number | bigint }
  get(...values: readonly SqlValue[]): SqlRow | undefined
  get(parameters?: SqlRow): SqlRow | undefined
  all(...values: readonly SqlValue[]): readonly SqlRow[]
  all(parameters?: SqlRow): readonly SqlRow[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

interface Driver {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly timeout: number; readonly readOnly?: boolean | undefined },
  ) => Database
}

/**
 * The first SQLite in which two processes writing and checkpointing at the same instant cannot corrupt a write-ahead
 * log. A Node with an older one inside is given the packaged SQLite, as is a Node without any.
 */
const SAFE_VERSION = [3, 51, 3] as const

/** Older lines of Node call their SQLite experimental, with a warning on stderr at every start. */
const QUIET_NODE = 24

/**
 * Opens a database file with the SQLite inside Node where there is a good one, else with the packaged one, which npm installs
 * on the versions of Node that need it. Rejects with `package_missing` where it was left out all the same.
 * `timeoutMs`: how long a statement waits, blocking this thread, for a lock that another connection holds.
 */
export async function connect(path: string, timeoutMs: number): Promise<Database> {
  const { DatabaseSync } = await loadDriver()
  makeOwn(path)
  return new DatabaseSync(path, { timeout: timeoutMs })
}

/** Makes the file, whose rights SQLite gives to those beside it as well. */
function makeOwn(path: string): void {
  if (path === IN_MEMORY) return
  try {
    closeSync(openSync(path, 'a', OWN_FILE))
  } catch {
    // SQLite says what is wrong with it.
  }
}

/** Name of a database in the memory of this process alone. */
export const IN_MEMORY = ':memory:'

/**
 * Opens a database file that is only read. Where not even a lock can be written beside it, it is read as a file that
 * nobody changes.
 */
export async function connectReadOnly(path: string): Promise<Database> {
  const { DatabaseSync } = await loadDriver()
  const options = { timeout: 0, readOnly: true }
  let database: Database | undefined
  try {
    database = new DatabaseSync(path, options)
    database.prepare('PRAGMA user_version').get()
    return database
  } catch {
    database?.close()
    return new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, options)
  }
}

/** Whether the error says that another connection holds the lock: the statement did nothing and may be tried again. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false
  const SQLITE_BUSY = 5
  return (error.errcode & 0xff) === SQLITE_BUSY
}

async function loadDriver(): Promise<Driver> {
  const inside = hasGoodSqlite(process.versions) ? process.getBuiltinModule('node:sqlite') : undefined
  return (inside ?? (await loadInstalled('@sallyport/sqlite', () => import('@sallyport/sqlite')))) as Driver
}

/** Whether the SQLite inside these versions of Node is used. The `engines` of @sallyport/sqlite name all others. */
export function hasGoodSqlite({
  node,
  sqlite,
}: {
  readonly node: string
  readonly sqlite?: string | undefined
}): boolean {
  return Number.parseInt(node, 10) >= QUIET_NODE && isSafe(sqlite)
}

function isSafe(version: string | undefined): boolean {
  const [major = 0, minor = 0, patch = 0] = version?.split('.').map(Number) ?? []
  const [safeMajor, safeMinor, safePatch] = SAFE_VERSION
  if (major !== safeMajor) return major > safeMajor
  return minor !== safeMinor ? minor > safeMinor : patch >= safePatch
}
