import { setTimeout as delay } from 'node:timers/promises'
import type { Accounts } from '#accounts'
import { migrate } from '../postgres/migrate.ts'
import { isUnreachable, type Postgres, type PostgresRow, type PostgresValue } from '../postgres/pool.ts'
import { number, readAccount, readCount, readKey, required } from './rows.ts'

const FAMILY = 'accounts'

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

const SELECT_ACCOUNT = 'SELECT * FROM account WHERE id = $1'

/** Counts what was used in later windows when the clock went back, as SQLite does. */
const LATER =
  '(SELECT coalesce(sum(later.used), 0)::bigint FROM usage later WHERE later.account_id = $1 AND later.window_id > $2)'

/** One statement does it, as in SQLite. Two nodes that spend at once wait for one row lock. */
const SPEND = `
  INSERT INTO usage (account_id, window_id, used, granted)
  SELECT $1, $2, least($3::bigint, $4::bigint - ${LATER}), least($3::bigint, $4::bigint - ${LATER})
  WHERE $4::bigint > ${LATER}
  ON CONFLICT (account_id, window_id) DO UPDATE
  SET granted = least($3::bigint, $4::bigint - ${LATER} - usage.used),
      used = least(usage.used + $3::bigint, $4::bigint - ${LATER})
  WHERE usage.used + ${LATER} < $4::bigint
  RETURNING used + ${LATER} AS used, granted, window_id`

const USAGE = 'SELECT coalesce(sum(used), 0)::bigint AS used FROM usage WHERE account_id = $1 AND window_id >= $2'

const INSERT_KEY = `
  INSERT INTO api_key (id, hash, last4, account_id, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6)`

const REVOKE = 'UPDATE api_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING account_id'

/** How long operations reject at once after an outage was found, without a wait for the next timeout. */
const PAUSE_MS = 250

/** How long an operation waits for tables that another process is making: its caller has a second. */
const MIGRATION_MS = 400

/** Runs operations on the database: each rejects while the server cannot be reached or the tables are not made. */
type Run = <T>(operation: () => Promise<T>) => Promise<T>

type Query = (sql: string, values?: readonly PostgresValue[]) => Promise<readonly PostgresRow[]>

/**
 * Opens the accounts in a PostgreSQL database, shared by any number of nodes. A server that cannot be reached now is no error, though
 * `onUnreachable` is called: the tables are made as soon as it can be, and until then every operation rejects. Rejects when the server
 * refuses, and when the tables are of a newer version.
 */
export async function openPostgresAccounts(
  postgres: Postgres,
  onUnreachable?: (error: unknown) => void,
): Promise<Accounts> {
  const tables = createTables(postgres)
  try {
    await tables.make()
  } catch (error) {
    if (!isUnreachable(error)) throw error
    onUnreachable?.(error)
  }
  const run = createRun(tables)
  const query: Query = (sql, values) => run(async () => (await postgres.query(sql, values)).rows)
  return { ...accountsIn(query), ...keysIn(query, postgres, run), ...usageIn(query) }
}

interface Tables {
  /** Makes them; concurrent calls share one attempt. */
  make(): Promise<void>
  made(): boolean
}

function createTables(postgres: Postgres): Tables {
  let making: Promise<void> | undefined
  let made = false
  return {
    make() {
      making ??= migrate(postgres, FAMILY, STEPS)
        .then(() => {
          made = true
        })
        .finally(() => {
          making = undefined
        })
      return making
    },
    made: () => made,
  }
}

function createRun(tables: Tables): Run {
  let outage: { readonly error: unknown; readonly until: number } | undefined
  return async (operation) => {
    if (outage !== undefined && performance.now() < outage.until) throw outage.error
    try {
      if (!tables.made()) await awaitBriefly(tables.make())
      const result = await operation()
      outage = undefined
      return result
    } catch (error) {
      if (isUnreachable(error)) outage = { error, until: performance.now() + PAUSE_MS }
      throw error
    }
  }
}

function accountsIn(query: Query): Pick<Accounts, 'createAccount' | 'findAccount' | 'listAccounts' | 'setPlan'> {
  return {
    async createAccount({ id, name, plan, signupDate }) {
      const inserted = await query(
        'INSERT INTO account VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING RETURNING id',
        [id, name, plan, signupDate],
      )
      return inserted.length === 1
    },
    async findAccount(id) {
      const row = await first(query, SELECT_ACCOUNT, [id])
      return row && readAccount(row)
    },
    async listAccounts() {
      return (await query('SELECT * FROM account ORDER BY id COLLATE "C"')).map(readAccount)
    },
    async setPlan(id, plan) {
      return (await query('UPDATE account SET plan = $2 WHERE id = $1 RETURNING id', [id, plan])).length === 1
    },
  }
}

function keysIn(
  query: Query,
  postgres: Postgres,
  run: Run,
): Pick<Accounts, 'createKey' | 'findKey' | 'listKeys' | 'revokeKey' | 'replaceKey' | 'recordUses'> {
  return {
    async createKey({ id, hash, last4, accountId, createdAt, revokedAt }) {
      await query(INSERT_KEY, [id, hash, last4, accountId, createdAt, revokedAt ?? null])
    },
    async findKey(id) {
      const row = await first(
        query,
        `SELECT api_key.*, name, plan, signup_date FROM api_key JOIN account ON account.id = account_id
         WHERE api_key.id = $1`,
        [id],
      )
      return row && { key: readKey(row), account: readAccount({ ...row, id: row['account_id'] }) }
    },
    async listKeys(accountId) {
      const rows = await query(
        'SELECT * FROM api_key WHERE $1::text IS NULL OR account_id = $1 ORDER BY created_at COLLATE "C", serial',
        [accountId ?? null],
      )
      return rows.map(readKey)
    },
    async revokeKey(id, at) {
      return (await query(REVOKE, [id, at])).length === 1
    },
    replaceKey: (id, { id: nextId, hash, last4, createdAt, revokedAt }) =>
      run(() =>
        postgres.transaction(async (queryWithin) => {
          const accountId = (await queryWithin(REVOKE, [id, createdAt])).rows[0]?.['account_id']
          if (accountId === undefined) return undefined
          await queryWithin(INSERT_KEY, [nextId, hash, last4, String(accountId), createdAt, revokedAt ?? null])
          return readAccount(required((await queryWithin(SELECT_ACCOUNT, [String(accountId)])).rows[0]))
        }),
      ),
    async recordUses(uses) {
      // Rows are locked in one order on every node, so that no two nodes wait for each other in a circle.
      await query(
        `UPDATE api_key SET last_used_at = used.at
         FROM (SELECT api_key.id, given.at FROM unnest($1::text[], $2::text[]) AS given (id, at)
               JOIN api_key ON api_key.id = given.id ORDER BY api_key.id FOR UPDATE OF api_key) AS used
         WHERE api_key.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`,
        [uses.map(({ id }) => id), uses.map(({ at }) => at)],
      )
    },
  }
}

function usageIn(query: Query): Pick<Accounts, 'spend' | 'refund' | 'usage'> {
  return {
    async spend(account, window, limit, calls = 1) {
      const counted = await first(query, SPEND, [account, window, calls, limit])
      if (counted) return { granted: number(counted, 'granted'), ...readCount(counted) }
      const used = number(required(await first(query, USAGE, [account, window])), 'used')
      return { granted: 0, used, windowId: window }
    },
    async refund(account, window, calls = 1) {
      await query('UPDATE usage SET used = greatest(0, used - $3) WHERE account_id = $1 AND window_id = $2', [
        account,
        window,
        calls,
      ])
    },
    async usage(account, window) {
      return number(required(await first(query, USAGE, [account, window])), 'used')
    },
  }
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

async function first(query: Query, sql: string, values: readonly PostgresValue[]): Promise<PostgresRow | undefined> {
  return (await query(sql, values))[0]
}
