import type { KeptReverseCheck } from '@sallyport/core'
import type { SqlRow } from '../sqlite/driver.ts'
import { inTransaction, openDatabase } from '../sqlite/open-database.ts'

export type SqliteReverseChecks = Awaited<ReturnType<typeof openSqliteReverseChecks>>

const STEPS: readonly string[] = [
  `CREATE TABLE reverse_check (
     key TEXT PRIMARY KEY,
     status TEXT NOT NULL CHECK (status IN ('passed', 'refuted')),
     detail TEXT NOT NULL,
     hostname TEXT,
     until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX reverse_check_until ON reverse_check (until);`,
]

/**
 * Opens the finished reverse-DNS checks in the SQLite file at `path`, for any number of processes, so that a restart need not query again.
 * Rejects where it is no database. Checks that could not run are not stored: they are valid for a minute.
 */
export async function openSqliteReverseChecks(path: string) {
  const database = await openDatabase(path, STEPS)
  const select = database.prepare('SELECT * FROM reverse_check WHERE until > :now ORDER BY until DESC LIMIT :max')
  const upsert = database.prepare(
    `INSERT INTO reverse_check VALUES (:key, :status, :detail, :hostname, :until)
     ON CONFLICT (key) DO UPDATE SET status = :status, detail = :detail, hostname = :hostname, until = :until`,
  )
  const dropOld = database.prepare('DELETE FROM reverse_check WHERE until <= :now')
  const dropExcess = database.prepare(
    'DELETE FROM reverse_check WHERE key IN (SELECT key FROM reverse_check ORDER BY until DESC LIMIT -1 OFFSET :max)',
  )
  const allKeys = database.prepare('SELECT key FROM reverse_check')
  const drop = database.prepare('DELETE FROM reverse_check WHERE key = :key')

  return {
    /** Loads the checks that are valid at `now`; of more than `max`, those that are valid longest. */
    load: (now: number, max: number): readonly KeptReverseCheck[] => select.all({ now, max }).map(readCheck),
    /** Writes all in one transaction, and removes those that have expired at `now` and those beyond `max`. */
    save(checks: readonly KeptReverseCheck[], now: number, max: number): void {
      inTransaction(database, () => {
        for (const { key, status, detail, hostname = null, until } of checks) {
          if (status !== 'could-not-run') upsert.run({ key, status, detail, hostname, until })
        }
        dropOld.run({ now })
        dropExcess.run({ max })
      })
    },
    /** Removes the checks of the keys that are meant; returns their number. */
    remove(isMeant: (key: string) => boolean): number {
      const keys = allKeys.all().flatMap(({ key }) => (isMeant(String(key)) ? [String(key)] : []))
      inTransaction(database, () => {
        for (const key of keys) drop.run({ key })
      })
      return keys.length
    },
    close: (): void => database.close(),
  }
}

function readCheck({ key, status, detail, hostname, until }: SqlRow): KeptReverseCheck {
  return {
    key: String(key),
    status: status === 'passed' ? 'passed' : 'refuted',
    detail: String(detail),
    ...(hostname !== null && { hostname: String(hostname) }),
    until: Number(until),
  }
}
