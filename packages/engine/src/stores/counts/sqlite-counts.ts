import { randomBytes } from 'node:crypto'
import {
  type CountState,
  type Counts,
  type CountTask,
  giveBack,
  type Taken,
  takeStep,
  type Whole,
} from '@sallyport/core'
import type { Closable } from '../closable.ts'
import type { Database, SqlRow } from '../sqlite/driver.ts'
import { closeOnce, inTransaction, openDatabase, setImpatient, whenFree } from '../sqlite/open-database.ts'
import { createTurns } from '../sqlite/turns.ts'
import { hashKey } from './key-hash.ts'
import { flightState, takeInOrder } from './memory-counts.ts'

export interface SqliteCountsOptions {
  /** Most counts that are kept; the file stays near 100 bytes for each. */
  readonly maxKeys?: number | undefined
  /** Returns milliseconds since the epoch. */
  readonly now?: (() => number) | undefined
}

const MAX_KEYS = 500_000

/** How many requests this process counts between two clearings, and how many rows one clearing removes at most. */
const CLEAR_EVERY = 1_000
const CLEAR_AT_MOST = 4_000

/** Requests in flight of a process that died are forgotten after the lease, which the living renew. */
export const FLIGHT_LEASE_MS = 30_000
export const FLIGHT_RENEW_MS = 10_000

/** Times are milliseconds since the epoch. The index is the order in which rows are given up. */
const STEPS: readonly string[] = [
  `CREATE TABLE count (
     id TEXT PRIMARY KEY,
     used REAL NOT NULL,
     before REAL NOT NULL,
     at INTEGER NOT NULL,
     ends_at INTEGER NOT NULL,
     full INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX count_given_up ON count (full, ends_at);
   CREATE TABLE flight (
     id TEXT NOT NULL,
     flight TEXT NOT NULL,
     ends_at INTEGER NOT NULL,
     PRIMARY KEY (id, flight)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE secret (value TEXT NOT NULL) STRICT;`,
]

/**
 * Opens counts in the SQLite file at `path`, for any number of processes of one machine: all that comes in one turn of the event loop is
 * one transaction. Keys are kept as keyed hashes; a row goes when its window has ended.
 */
export async function openSqliteCounts(path: string, options: SqliteCountsOptions = {}): Promise<Counts & Closable> {
  const { maxKeys = MAX_KEYS, now = Date.now } = options
  const database = await openDatabase(path, STEPS)
  database.exec('PRAGMA synchronous = NORMAL')
  const secret = await whenFree(() => inTransaction(database, () => readSecret(database)))
  setImpatient(database)
  const sql = prepareStatements(database)
  const flying = new Set<string>()
  const { takeAll, leave, clear } = createTaker(sql, { secret, flying, maxKeys, now })
  const close = closeOnce(database)
  let untilClearing = CLEAR_EVERY
  const takeInTurn = createTurns(database, takeAll)

  const renewing = setInterval(() => {
    const until = now() + FLIGHT_LEASE_MS
    const renew = (): void =>
      inTransaction(database, () => flying.forEach((flight) => void sql.renew.run(until, flight)))
    if (flying.size > 0) whenFree(renew).catch(() => {})
  }, FLIGHT_RENEW_MS).unref()

  return {
    async take(tasks, flight) {
      const taken = await takeInTurn({ tasks, flight })
      if (--untilClearing === 0) {
        untilClearing = CLEAR_EVERY
        // What could not be cleared now is cleared later.
        whenFree(clear).catch(() => {})
      }
      return taken
    },
    leave(keys, flight, unused = []) {
      flying.delete(flight)
      if (keys.length + unused.length === 0) return
      // A row that cannot be changed now ends with its lease, or with its window.
      whenFree(() => inTransaction(database, () => leave(keys, flight, unused))).catch(() => {})
    },
    close() {
      clearInterval(renewing)
      close()
    },
  }
}

/** Returns the body of one transaction. */
function createTaker(
  sql: ReturnType<typeof prepareStatements>,
  {
    secret,
    flying,
    maxKeys,
    now,
  }: Whole<SqliteCountsOptions> & { readonly secret: string; readonly flying: Set<string> },
) {
  function takeOne({ key, cost, limit, max }: CountTask, flight: string): CountState {
    const id = hashKey(secret, key)
    const time = now()
    if (limit === undefined) return enter(id, max, flight, time)
    const step = takeStep(limit, readRow(sql.select.get(id)), cost, time)
    const { used, before, at } = step.row
    if ((step.allowed && cost > 0) || step.rewound) sql.put.run(id, used, before, at, step.endsAt, step.full ? 1 : 0)
    return step
  }

  function enter(id: string, max: number, flight: string, time: number): CountState {
    // A clock that went back would else keep the flights of a process that died: living processes renew theirs.
    sql.rewound.run(time + FLIGHT_LEASE_MS, id, time + FLIGHT_LEASE_MS)
    const there = Number(sql.there.get(id, time)?.['flights'])
    const allowed = there < max
    if (allowed) {
      sql.enter.run(id, flight, time + FLIGHT_LEASE_MS)
      flying.add(flight)
    }
    return flightState(allowed, there)
  }

  const takeAll = ({ tasks, flight }: { readonly tasks: readonly CountTask[]; readonly flight: string }): Taken =>
    takeInOrder(tasks, (task) => takeOne(task, flight))

  function leave(keys: readonly string[], flight: string, unused: readonly CountTask[]): void {
    for (const key of keys) sql.leave.run(hashKey(secret, key), flight)
    for (const { key, cost } of unused) {
      const id = hashKey(secret, key)
      const row = readRow(sql.select.get(id))
      if (row === undefined) continue
      const { used, before } = giveBack(row, cost)
      sql.giveBack.run(used, before, id)
    }
  }

  function clear(): void {
    for (const full of [0, 1]) sql.expired.run(full, now())
    sql.landed.run(now())
    const surplus = Number(sql.size.get()?.['counts']) - maxKeys
    if (surplus > 0) sql.surplus.run(Math.min(surplus, CLEAR_AT_MOST))
  }

  return { takeAll, leave, clear }
}

function readSecret(database: Database): string {
  const known = database.prepare('SELECT value FROM secret').get()?.['value']
  if (typeof known === 'string') return known
  const made = randomBytes(32).toString('base64url')
  database.prepare('INSERT INTO secret VALUES (?)').run(made)
  return made
}

function prepareStatements(database: Database) {
  return {
    select: database.prepare('SELECT used, before, at FROM count WHERE id = ?'),
    put: database.prepare('INSERT OR REPLACE INTO count VALUES (?, ?, ?, ?, ?, ?)'),
    giveBack: database.prepare('UPDATE count SET used = ?, before = ?, full = 0 WHERE id = ?'),
    there: database.prepare('SELECT count(*) AS flights FROM flight WHERE id = ? AND ends_at > ?'),
    rewound: database.prepare('UPDATE flight SET ends_at = ? WHERE id = ? AND ends_at > ?'),
    enter: database.prepare('INSERT OR REPLACE INTO flight VALUES (?, ?, ?)'),
    leave: database.prepare('DELETE FROM flight WHERE id = ? AND flight = ?'),
    renew: database.prepare('UPDATE flight SET ends_at = ? WHERE flight = ?'),
    landed: database.prepare('DELETE FROM flight WHERE ends_at <= ?'),
    size: database.prepare('SELECT count(*) AS counts FROM count'),
    expired: database.prepare(
      `DELETE FROM count WHERE id IN (
         SELECT id FROM count WHERE full = ? AND ends_at <= ? ORDER BY ends_at LIMIT ${CLEAR_AT_MOST})`,
    ),
    surplus: database.prepare('DELETE FROM count WHERE id IN (SELECT id FROM count ORDER BY full, ends_at LIMIT ?)'),
  }
}

function readRow(row: SqlRow | undefined) {
  return row && { used: Number(row['used']), before: Number(row['before']), at: Number(row['at']) }
}
