import { setTimeout as delay } from 'node:timers/promises'
import { openPostgres } from './postgres/pool.ts'
import { openRedis } from './redis-connection.ts'
import { connectReadOnly } from './sqlite/driver.ts'

export interface StoreProbe {
  /** Names the store and its version: `SQLite 3.53.0`, `PostgreSQL 17.2`, `Redis 8.0.1`. */
  readonly version: string
  /** The clock of the store, in milliseconds since the epoch; a file has none. */
  readonly now?: number | undefined
}

const PROBE_MS = 3_000

/**
 * Asks the store at `url` (`sqlite:FILE`, `postgres://…` or `redis://…`) for its version and its clock, and changes
 * nothing there. Rejects where it cannot be read or reached, and with `package_missing` without its driver.
 */
export async function probeStore(url: string): Promise<StoreProbe> {
  if (url.startsWith('sqlite:')) return probeSqlite(url.slice('sqlite:'.length))
  return url.startsWith('redis') ? probeRedis(url) : probePostgres(url)
}

async function probeSqlite(path: string): Promise<StoreProbe> {
  const database = await connectReadOnly(path)
  try {
    // Reads the schema, which a file that is damaged at its beginning does not have.
    database.prepare('SELECT count(*) AS count FROM sqlite_master').get()
    return { version: `SQLite ${database.prepare('SELECT sqlite_version() AS version').get()?.['version']}` }
  } finally {
    database.close()
  }
}

async function probePostgres(url: string): Promise<StoreProbe> {
  const postgres = await openPostgres(url, { connectMs: PROBE_MS, statementMs: PROBE_MS, maxConnections: 1 })
  try {
    const { rows } = await postgres.query(
      "SELECT current_setting('server_version') AS version, clock_timestamp() AS now",
    )
    const { version, now } = rows[0] ?? {}
    return { version: `PostgreSQL ${String(version).split(' ')[0]}`, now: Number(now) }
  } finally {
    await postgres.close()
  }
}

async function probeRedis(url: string): Promise<StoreProbe> {
  const connection = await openRedis(url)
  const late = delay(PROBE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no response within ${PROBE_MS} ms`)
  })
  try {
    const client = connection.client()
    const [seconds, micros] = await Promise.race([client.time(), late])
    // An account may be denied what is not needed.
    const info = await Promise.race([client.info('server'), late]).catch(() => '')
    const version = /^(?:redis|valkey)_version:(\S+)/m.exec(info)?.[1] ?? '(unknown version)'
    return { version: `Redis ${version}`, now: Number(seconds) * 1_000 + Number(micros) / 1_000 }
  } finally {
    connection.close()
    late.catch(() => {})
  }
}
