import { setTimeout as delay } from 'node:timers/promises'
import type { Accounts } from '#accounts'
import { migrate } from '../postgres/migrate.ts'
import { isUnreachable, type Postgres, type PostgresValue, writeParameters } from '../postgres/pool.ts'
import {
  type AccountsDialect,
  createSqlAccounts,
  INSERT_KEY,
  type Query,
  REVOKE,
  readAccount,
  required,
  SELECT_ACCOUNT,
  writeSpend,
} from './sql-accounts.ts'

/** Lists the steps that make the tables, by version; a released step never changes. */
const STEPS: readonly string[] = [
  `CREATE TABLE account (
     id text PRIMARY KEY,
     name text NOT NULL,
     plan text NOT NULL,
     signup_date text NOT NULL
   );
   CREATE TABLE api_key (
     id text PRIMARY KEY,
     serial bigint GENERATED ALWAYS AS IDENTITY,
     hash text NOT NULL,
     last4 text NOT NULL,
     account_id text NOT NULL REFERENCES account (id),
     created_at text NOT NULL,
     revoked_at text,
     last_used_at text
   );
   CREATE INDEX api_key_account ON api_key (account_id);
   CREATE TABLE usage (
     account_id text NOT NULL REFERENCES account (id),
     window_id text NOT NULL,
     used bigint NOT NULL CHECK (used >= 0),
     granted bigint NOT NULL,
     PRIMARY KEY (account_id, window_id)
   );`,
]

const POSTGRES: AccountsDialect = { least: 'least', greatest: 'greatest', byBytes: 'COLLATE "C"', serial: 'serial' }

/** Rows are locked in one order on every node, so that no two nodes wait for each other in a circle. */
const RECORD_USES = `
  UPDATE api_key SET last_used_at = used.at
  FROM (SELECT api_key.id, given.at FROM unnest($1::text[], $2::text[]) AS given (id, at)
        JOIN api_key ON api_key.id = given.id ORDER BY api_key.id FOR UPDATE OF api_key) AS used
  WHERE api_key.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`

/** How long operations reject at once after an outage was found, without a wait for the next timeout. */
const PAUSE_MS = 250

/** How long an operation waits for tables that another process is making: its caller has a second. */
const MIGRATION_MS = 400

/**
 * Opens the accounts in a PostgreSQL database, shared by any number of nodes. A server that cannot be reached now is no error, though
 * `onUnreachable` is called: the tables are made as soon as it can be, and until then every operation rejects. Rejects when the server
 * refuses, and when the tables are of a newer version.
 */
export async function openPostgresAccounts(
  postgres: Postgres,
  onUnreachable?: (error: unknown) => void,
): Promise<Accounts> {
  const { makeTables, run } = createRunner(postgres)
  try {
    await makeTables()
  } catch (error) {
    if (!isUnreachable(error)) throw error
    onUnreachable?.(error)
  }
  const query: Query = (sql, values) => run(async () => (await postgres.query(writeParameters(sql), values)).rows)
  const spend = writeSpend(POSTGRES)
  return {
    // Two nodes that spend at once wait for one row lock.
    ...createSqlAccounts(query, POSTGRES, async (values) => (await query(spend, values))[0]),
    replaceKey: (id, { id: nextId, hash, last4, createdAt, revokedAt }) =>
      run(() =>
        postgres.transaction(async (within) => {
          const first = async (sql: string, values: readonly PostgresValue[]) =>
            (await within(writeParameters(sql), values)).rows[0]
          const accountId = (await first(REVOKE, [id, createdAt]))?.['account_id']
          if (accountId === undefined) return undefined
          await first(INSERT_KEY, [nextId, hash, last4, String(accountId), createdAt, revokedAt ?? null])
          return readAccount(required(await first(SELECT_ACCOUNT, [String(accountId)])))
        }),
      ),
    async recordUses(uses) {
      const values = [uses.map(({ id }) => id), uses.map(({ at }) => at)]
      await run(() => postgres.query(RECORD_USES, values))
    },
  }
}

function createRunner(postgres: Postgres) {
  let making: Promise<void> | undefined
  let hasTables = false
  let outage: { readonly error: unknown; readonly until: number } | undefined

  /** Concurrent calls share one attempt. */
  function makeTables(): Promise<void> {
    making ??= migrate(postgres, 'accounts', STEPS)
      .then(() => {
        hasTables = true
      })
      .finally(() => {
        making = undefined
      })
    return making
  }

  /** Runs an operation; rejects while the server cannot be reached or the tables are not made. */
  async function run<T>(operation: () => Promise<T>): Promise<T> {
    if (outage !== undefined && performance.now() < outage.until) throw outage.error
    try {
      if (!hasTables) await awaitBriefly(makeTables())
      const result = await operation()
      outage = undefined
      return result
    } catch (error) {
      if (isUnreachable(error)) outage = { error, until: performance.now() + PAUSE_MS }
      throw error
    }
  }

  return { makeTables, run }
}

/** Rejects, as when the server cannot be reached, if the migration takes long; the migration continues. */
async function awaitBriefly(migration: Promise<void>): Promise<void> {
  const waiting = new AbortController()
  const late = delay(MIGRATION_MS, undefined, { signal: waiting.signal }).then(
    () => Promise.reject(new Error(`timeout: the tables were not created within ${MIGRATION_MS} ms`)),
    () => {},
  )
  try {
    await Promise.race([migration, late])
  } finally {
    waiting.abort()
  }
}
