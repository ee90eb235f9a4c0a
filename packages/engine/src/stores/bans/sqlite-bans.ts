import type { Ban, BanList } from '@sallyport/core'
import type { Closable } from '../closable.ts'
import type { SqlRow } from '../sqlite/driver.ts'
import { followChanges } from '../sqlite/follow-changes.ts'
import { closeOnce, inTransaction, openDatabase, setImpatient, whenFree } from '../sqlite/open-database.ts'
import { createKnownBans, type Lift, LOOK_MS, liftedAt, MAX_BANS, makeLift } from './known-bans.ts'

const STEPS: readonly string[] = [
  `CREATE TABLE ban (
     id TEXT PRIMARY KEY,
     key TEXT NOT NULL,
     strike TEXT NOT NULL,
     count INTEGER NOT NULL,
     since INTEGER NOT NULL,
     until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX ban_ending ON ban (until);`,
  `ALTER TABLE ban ADD COLUMN offences TEXT;
   ALTER TABLE ban ADD COLUMN strikes_window INTEGER;
   CREATE TABLE lift (id TEXT PRIMARY KEY, at INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
]

/**
 * Opens the bans in the SQLite file at `path`, for any number of processes of one machine: what one writes is found in the others within a
 * quarter of a second. A ban that has ended is deleted.
 */
export async function openSqliteBans(
  path: string,
  now: () => number = Date.now,
  most = MAX_BANS,
): Promise<BanList & Closable> {
  const database = await openDatabase(path, STEPS)
  setImpatient(database)
  const all = database.prepare('SELECT * FROM ban WHERE until > ?')
  const upsert = database.prepare('INSERT OR REPLACE INTO ban VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const remove = database.prepare('DELETE FROM ban WHERE id = ? RETURNING *')
  const purge = database.prepare('DELETE FROM ban WHERE until <= ?')
  const allLifts = database.prepare('SELECT * FROM lift WHERE until > ?')
  const oneLift = database.prepare('SELECT * FROM lift WHERE id = ?')
  const putLift = database.prepare('INSERT OR REPLACE INTO lift VALUES (?, ?, ?)')
  const purgeLifts = database.prepare('DELETE FROM lift WHERE until <= ?')
  const surplus = database.prepare(
    `DELETE FROM ban WHERE id IN (SELECT id FROM ban ORDER BY until DESC LIMIT -1 OFFSET ${most})`,
  )
  const rewind = database.prepare('UPDATE ban SET since = ?, until = ? WHERE id = ? AND since > ?')
  const known = createKnownBans({ now, most }, ({ id, since, until }) => {
    // A ban that cannot be written now holds here, and is noticed again after a restart.
    whenFree(() => void rewind.run(since, until, id, since)).catch(() => {})
  })
  const following = followChanges(database, LOOK_MS, () =>
    known.replace(all.all(now()).map(readBan), allLifts.all(now()).map(readLift)),
  )
  await whenFree(following.look)
  const close = closeOnce(database)

  return {
    find: known.find,
    async put(ban) {
      const isDue = known.hold(ban)
      await whenFree(() => {
        purge.run(now())
        const { id, key, on, count, since, until, offences, windowMs = null } = ban
        upsert.run(id, key, on, count, since, until, offences === undefined ? null : JSON.stringify(offences), windowMs)
        if (isDue) surplus.run()
      })
    },
    async lift(id) {
      const lifted = await whenFree(() =>
        inTransaction(database, () => {
          const row = remove.get(id)
          if (row === undefined) return undefined
          const ban = readBan(row)
          purgeLifts.run(now())
          const before = oneLift.get(id)
          const lift = makeLift(ban, before && readLift(before), now())
          putLift.run(id, lift.at, lift.until)
          return { ban, lift }
        }),
      )
      if (lifted === undefined) return false
      known.forget(lifted.ban, lifted.lift)
      return true
    },
    liftedAt: (id) => liftedAt(known.lift(id), now()),
    async list() {
      await whenFree(following.look)
      return known.list()
    },
    close() {
      following.stop()
      close()
    },
  }
}

function readBan(row: SqlRow): Ban {
  const number = (name: string): number => Number(row[name])
  const text = (name: string): string => String(row[name])
  return {
    id: text('id'),
    key: text('key'),
    on: text('strike'),
    count: number('count'),
    since: number('since'),
    until: number('until'),
    ...(typeof row['offences'] === 'string' && { offences: JSON.parse(row['offences']) as Ban['offences'] }),
    ...(row['strikes_window'] !== null && { windowMs: number('strikes_window') }),
  }
}

function readLift({ id, at, until }: SqlRow): Lift {
  return { id: String(id), at: Number(at), until: Number(until) }
}
