import { closeSync, openSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { SallyportError } from '@sallyport/core/host'
import { OWN_FILE } from '#files'
import { loadInstalled } from '../load-installed.ts'

/** A value that goes into or comes out of a column. */
export type SqlValue = null | number | string | Uint8Array

/** A row as the driver gives it. */
export type SqlRow = Readonly<Record<string, SqlValue>>

/** The part of `node:sqlite` that is used here; the package has the same. */
export interface Statement {
  /** Takes values in the order of the `?` of the statement, which is twice as fast as by name. */
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
 * The first SQLite in which two connections that write and checkpoint at the same instant cannot corrupt a write-ahead log.
 * A Node with an older one needs the package, as does a Node without any.
 */
const SAFE_VERSION = '3.51.3'

/**
 * Opens a database file with the SQLite inside Node where that is safe, else with the package, or rejects with `package_missing`.
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

/** Names a database in the memory of this process alone. */
export const IN_MEMORY = ':memory:'

/** Opens a database file only to read it: as one that nobody changes where not even a lock can be written beside it. */
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

/** Reports whether the error says that another connection holds the lock: the statement did nothing and may be tried again. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false
  const SQLITE_BUSY = 5
  return (error.errcode & 0xff) === SQLITE_BUSY
}

async function loadDriver(): Promise<Driver> {
  const inside = isSafeSqlite(process.versions['sqlite']) ? loadQuietly() : undefined
  if (inside !== undefined) return inside
  const reason = `Node ${process.versions.node} has no SQLite of version ${SAFE_VERSION} or newer`
  return (await loadInstalled('@photostructure/sqlite', () => import('@photostructure/sqlite'), reason)) as Driver
}

/** Returns the `package_missing` that every opening of a database would reject with, or nothing. */
export async function findMissingSqlite(): Promise<SallyportError | undefined> {
  try {
    await loadDriver()
    return undefined
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
}

/** Node 22 writes at each load that its SQLite is experimental; the stores pass the same tests on it as on the package. */
function loadQuietly(): Driver | undefined {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:sqlite') as Driver | undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Reports whether several connections may use this version of SQLite at once. */
export function isSafeSqlite(version = '0'): boolean {
  return rankVersion(version) >= rankVersion(SAFE_VERSION)
}

/** Returns a number that orders versions. */
function rankVersion(version: string): number {
  return version.split('.').reduce((order, part) => order * 1_000 + Number(part), 0)
}
