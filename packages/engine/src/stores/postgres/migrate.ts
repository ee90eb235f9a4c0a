import { setTimeout as delay } from 'node:timers/promises'
import type { Postgres, PostgresQuery } from './pool.ts'

/** One lock for the steps of every family, because they share the table of versions; any number that is only ours. */
const LOCK = 0x5a11_9047

/** Longest that one step takes, and that another process is waited for. */
const STEP_MS = 60_000
const RETRY_MS = 50

/**
 * Brings the tables of one family (`accounts`, `ledger` …) to the newest of `steps`. Missing steps run in one transaction under an advisory
 * lock, so that any number of processes may do this at once. A released step is never changed, a new one is added. Rejects when the
 * database is of a newer version than `steps`.
 */
export async function migrate(postgres: Postgres, family: string, steps: readonly string[]): Promise<void> {
  const deadline = performance.now() + STEP_MS
  while (!(await postgres.transaction((query) => tryMigrate(query, family, steps), STEP_MS))) {
    if (performance.now() > deadline) throw new Error(`Another process has held the migration lock for ${STEP_MS} ms.`)
    await delay(RETRY_MS)
  }
}

/** Returns false while another process holds the lock. */
async function tryMigrate(query: PostgresQuery, family: string, steps: readonly string[]): Promise<boolean> {
  const { rows } = await query(`SELECT pg_try_advisory_xact_lock(${LOCK}) AS locked`)
  if (rows[0]?.['locked'] !== true) return false
  await query('CREATE TABLE IF NOT EXISTS sallyport_version (family text PRIMARY KEY, version int NOT NULL)')
  const known = await query('SELECT version FROM sallyport_version WHERE family = $1', [family])
  const version = Number(known.rows[0]?.['version'] ?? 0)
  if (version > steps.length) {
    throw new Error(
      `The ${family} in the database have tables of version ${version}, but this Sallyport supports version ` +
        `${steps.length}. Open them with the release that wrote them, or use another database.`,
    )
  }
  for (const step of steps.slice(version)) await query(step)
  await query(
    'INSERT INTO sallyport_version VALUES ($1, $2) ON CONFLICT (family) DO UPDATE SET version = excluded.version',
    [family, steps.length],
  )
  return true
}
