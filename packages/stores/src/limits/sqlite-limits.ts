import type { ClientLimit, LimitState, Limits } from '@sallyport/accounts'
import { number, type Row, required } from '../accounts/rows.ts'
import { inTransaction, openDatabase, setImpatient, whenFree } from '../sqlite/open-database.ts'
import { countId, stateOf } from './memory-limits.ts'

/** Limits in a file; `close` gives the file back, once or more often; everything after it rejects. */
export interface SqliteLimits extends Limits {
  close(): void
}

export interface SqliteLimitsOptions {
  /** Most counts that are kept; the file stays near 100 bytes for each. */
  readonly maxKeys?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

interface Waiting {
  readonly limit: ClientLimit
  readonly key: string
  readonly resolve: (state: LimitState) => void
  readonly reject: (error: unknown) => void
}

const MAX_KEYS = 500_000

/** How many requests this process counts between two clearings, and how many rows one clearing removes at most. */
const CLEAR_EVERY = 1_000
const CLEAR_AT_MOST = 4_000

/** Times are milliseconds since the epoch. The index is the order in which rows are given up. */
const STEPS: readonly string[] = [
  `CREATE TABLE client (
     id TEXT PRIMARY KEY,
     used INTEGER NOT NULL,
     ends_at INTEGER NOT NULL,
     exhausted INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX client_given_up ON client (exhausted, ends_at);`,
]

/** Writes nothing when exhausted. */
const TAKE = `
  INSERT INTO client (id, used, ends_at, exhausted) VALUES (:id, 1, :now + :window, :max <= 1)
  ON CONFLICT (id) DO UPDATE SET
    used = iif(ends_at <= :now, 1, used + 1),
    exhausted = iif(ends_at <= :now, 1, used + 1) >= :max,
    ends_at = iif(ends_at <= :now, :now + :window, min(ends_at, :now + :window))
  WHERE used < :max OR ends_at <= :now
  RETURNING used, ends_at`

/** A window that ends later than one that begins now: the clock went back. What was counted stays, for a window. */
const REWIND = 'UPDATE client SET ends_at = :now + :window WHERE id = :id AND ends_at > :now + :window'

const REMOVE_EXPIRED = `
  DELETE FROM client WHERE id IN (
    SELECT id FROM client WHERE exhausted = :exhausted AND ends_at <= :now ORDER BY ends_at LIMIT ${CLEAR_AT_MOST})`

/** Counts that are not exhausted are given up first, the soonest to end before the others. */
const REMOVE_SURPLUS = `
  DELETE FROM client WHERE id IN (SELECT id FROM client ORDER BY exhausted, ends_at LIMIT :surplus)`

/**
 * Counts clients in the SQLite file at `path`, for any number of processes of one machine. Memory is that of a page
 * cache, the file is bounded by `maxKeys`; an exhausted count is given up last. A count survives a crash of the process;
 * a loss of power may take back the last ones, which is what makes a count cheap.
 */
export async function openSqliteLimits(path: string, options: SqliteLimitsOptions = {}): Promise<SqliteLimits> {
  const { maxKeys = MAX_KEYS, now = Date.now } = options
  const database = await openDatabase(path, STEPS)
  // The log is still synced before it is folded in, so the file is never corrupt.
  database.exec('PRAGMA synchronous = NORMAL')
  setImpatient(database)
  const take = database.prepare(TAKE)
  const rewind = database.prepare(REWIND)
  const select = database.prepare('SELECT used, ends_at FROM client WHERE id = :id')
  const count = database.prepare('SELECT count(*) AS rows FROM client')
  const removeExpired = database.prepare(REMOVE_EXPIRED)
  const removeSurplus = database.prepare(REMOVE_SURPLUS)
  let open = true
  let untilClearing = CLEAR_EVERY
  let waiting: Waiting[] = []

  function clear(): void {
    for (const exhausted of [0, 1]) removeExpired.run({ exhausted, now: now() })
    const surplus = Number(count.get()?.['rows']) - maxKeys
    if (surplus > 0) removeSurplus.run({ surplus: Math.min(surplus, CLEAR_AT_MOST) })
  }

  function takeOne({ limit, key }: Waiting): LimitState {
    const { max, windowSeconds } = limit
    const id = countId(limit, key)
    const [time, window] = [now(), windowSeconds * 1000]
    const counted = take.get({ id, now: time, window, max })
    // Nothing was written: the row is there and exhausted.
    if (counted === undefined) rewind.run({ id, now: time, window })
    return stateOf(limit, counted !== undefined, windowOf(required(counted ?? select.get({ id }))))
  }

  function lookAt(limit: ClientLimit, key: string): LimitState {
    const time = now()
    const id = countId(limit, key)
    const length = limit.windowSeconds * 1000
    const found = select.get({ id })
    const isAhead = found !== undefined && windowOf(found).endsAt > time + length
    if (isAhead) rewind.run({ id, now: time, window: length })
    const row = isAhead ? select.get({ id }) : found
    const known = row === undefined ? undefined : windowOf(row)
    const window = known !== undefined && known.endsAt > time ? known : { used: 0, endsAt: time + length }
    return stateOf(limit, window.used < limit.max, window)
  }

  /** Counts all that came in one turn of the event loop in one transaction, which is what costs. */
  async function takeWaiting(): Promise<void> {
    const batch = waiting
    waiting = []
    try {
      const states = await whenFree(() => inTransaction(database, () => batch.map(takeOne)))
      for (const [index, state] of states.entries()) batch[index]?.resolve(state)
      untilClearing -= batch.length
      if (untilClearing > 0) return
      untilClearing = CLEAR_EVERY
      await whenFree(clear)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return {
    take(limit, key) {
      return new Promise((resolve, reject) => {
        waiting.push({ limit, key, resolve, reject })
        if (waiting.length === 1) setImmediate(() => void takeWaiting())
      })
    },
    look: (limit, key) => whenFree(() => lookAt(limit, key)),
    close() {
      if (open) database.close()
      open = false
    },
  }
}

function windowOf(row: Row): { readonly used: number; readonly endsAt: number } {
  return { used: number(row, 'used'), endsAt: number(row, 'ends_at') }
}
