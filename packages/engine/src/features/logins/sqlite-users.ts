import { createTurns, openDatabase, setImpatient, whenFree } from '#stores'
import { PURGED, type UserStore } from './user-store.ts'

const STEPS: readonly string[] = [
  `CREATE TABLE login (key TEXT PRIMARY KEY, seen TEXT NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE INDEX login_ending ON login (until);`,
]

interface Change {
  readonly key: string
  readonly before: string | undefined
  readonly next: string
  readonly until: number
}

/**
 * Opens the users in a SQLite file, for the processes of one machine: all writes of one turn of the event loop are one transaction. A
 * process that is killed loses no write that was answered; a power failure may lose those of the last moments, as no commit waits for the disk.
 */
export async function openSqliteUsers(path: string, now: () => number): Promise<UserStore> {
  const database = await openDatabase(path, STEPS)
  database.exec('PRAGMA synchronous = NORMAL')
  setImpatient(database)
  const read = database.prepare('SELECT seen FROM login WHERE key = ? AND until > ?')
  const insert = database.prepare(
    `INSERT INTO login VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET seen = ?2, until = ?3 WHERE login.until <= ?4`,
  )
  const update = database.prepare('UPDATE login SET seen = ?, until = ? WHERE key = ? AND seen = ?')
  const purge = database.prepare(
    `DELETE FROM login WHERE key IN (SELECT key FROM login WHERE until <= ? LIMIT ${PURGED})`,
  )
  const erase = database.prepare('DELETE FROM login WHERE key = ?')
  const replace = createTurns(database, ({ key, before, next, until }: Change) => {
    purge.run(now())
    const { changes } =
      before === undefined ? insert.run(key, next, until, now()) : update.run(next, until, key, before)
    return Number(changes) > 0
  })
  return {
    read: (key) => whenFree(() => read.get(key, now())?.['seen'] as string | undefined),
    replace: (key, before, next, until) => replace({ key, before, next, until }),
    erase: (key) => whenFree(() => Number(erase.run(key).changes) > 0),
    close: async () => database.close(),
  }
}
