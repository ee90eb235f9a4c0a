import type { KeptReverseCheck } from '@sallyport/core'
import type { SqlRow } from '../sqlite/driver.ts'
import { openDatabase } from '../sqlite/open-database.ts'

/** Finished reverse-DNS checks in a file, so that a restart need not ask again. A cache: losing it costs questions. */
export interface SqliteReverseChecks {
  /** What still stands at `now`, and of more than `most` the ones that stand longest. */
  load(now: number, most: number): readonly KeptReverseCheck[]
  /** Writes all at once; whatever no longer stands at `now`, and what is more than `most`, goes. */
  save(checks: readonly KeptReverseCheck[], now: number, most: number): void
  close(): void
}

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

const DROP_EXCESS = `
  DELETE FROM reverse_check WHERE key IN
    (SELECT key FROM reverse_check ORDER BY until DESC LIMIT -1 OFFSET :most)`

/**
 * Opens the file at `path`, creating or upgrading it; several processes may have it open at once. Rejects where it is
 * no database. Checks that could not run are not kept: they stand for a minute.
 */
export async function openSqliteReverseChecks(path: string): Promise<SqliteReverseChecks> {
  const database = await openDatabase(path, STEPS)
  const select = database.prepare('SELECT * FROM reverse_check WHERE until > :now ORDER BY until DESC LIMIT :most')
  const upsert = database.prepare(
    `INSERT INTO reverse_check VALUES (:key, :status, :detail, :hostname, :until)
     ON CONFLICT (key) DO UPDATE SET status = :status, detail = :detail, hostname = :hostname, until = :until`,
  )
  const dropOld = database.prepare('DELETE FROM reverse_check WHERE until <= :now')
  const dropExcess = database.prepare(DROP_EXCESS)

  return {
    load: (now, most) => select.all({ now, most }).map(checkOf),
    save(checks, now, most) {
      database.exec('BEGIN IMMEDIATE')
      try {
        for (const { key, status, detail, hostname = null, until } of checks) {
          if (status !== 'could-not-run') upsert.run({ key, status, detail, hostname, until })
        }
        dropOld.run({ now })
        dropExcess.run({ most })
        database.exec('COMMIT')
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
    close: () => database.close(),
  }
}

function checkOf({ key, status, detail, hostname, until }: SqlRow): KeptReverseCheck {
  return {
    key: String(key),
    status: status === 'passed' ? 'passed' : 'refuted',
    detail: String(detail),
    ...(hostname !== null && { hostname: String(hostname) }),
    until: Number(until),
  }
}
