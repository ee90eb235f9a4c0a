import { migrate, openPostgres } from '#stores'
import { PURGED, type UserStore } from './user-store.ts'

const STEPS: readonly string[] = [
  `CREATE TABLE sallyport_login (key text PRIMARY KEY, seen text NOT NULL, until bigint NOT NULL);
   CREATE INDEX sallyport_login_ending ON sallyport_login (until)`,
]

/** Opens the users in PostgreSQL; the tables are made by the first use that reaches the server. */
export async function openPostgresUsers(url: string, now: () => number): Promise<UserStore> {
  const postgres = await openPostgres(url)
  let made: Promise<void> | undefined
  const query: typeof postgres.query = async (...asked) => {
    made ??= migrate(postgres, 'logins', STEPS).catch((error: unknown) => {
      made = undefined
      throw error
    })
    await made
    return postgres.query(...asked)
  }
  return {
    async read(key) {
      const { rows } = await query('SELECT seen FROM sallyport_login WHERE key = $1 AND until > $2', [key, now()])
      return rows[0]?.['seen'] as string | undefined
    },
    async replace(key, before, next, until) {
      await query(
        `DELETE FROM sallyport_login WHERE key IN
           (SELECT key FROM sallyport_login WHERE until <= $1 LIMIT ${PURGED} FOR UPDATE SKIP LOCKED)`,
        [now()],
      )
      const { changes } =
        before === undefined
          ? await query(
              `INSERT INTO sallyport_login VALUES ($1, $2, $3) ON CONFLICT (key) DO UPDATE SET seen = $2, until = $3
               WHERE sallyport_login.until <= $4`,
              [key, next, until, now()],
            )
          : await query('UPDATE sallyport_login SET seen = $1, until = $2 WHERE key = $3 AND seen = $4', [
              next,
              until,
              key,
              before,
            ])
      return changes > 0
    },
    erase: async (key) => (await query('DELETE FROM sallyport_login WHERE key = $1', [key])).changes > 0,
    close: postgres.close,
  }
}
