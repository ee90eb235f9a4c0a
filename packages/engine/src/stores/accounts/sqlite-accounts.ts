import type { Accounts, StoredKey } from '#accounts'
import type { Database, SqlRow, SqlValue } from '../sqlite/driver.ts'
import { inTransaction, openDatabase, setImpatient, whenFree } from '../sqlite/open-database.ts'
import { createTurns } from '../sqlite/turns.ts'
import { number, readAccount, readCount, readKey, required, text } from './rows.ts'

/** Accounts in a file; `close` gives the file back, once or more often; everything after it rejects. */
export interface SqliteAccounts extends Accounts {
  close(): void
}

/** Lists the steps that make the tables, by version; a released step never changes. */
const STEPS: readonly string[] = [
  `CREATE TABLE account (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     plan TEXT NOT NULL,
     signup_date TEXT NOT NULL
   ) STRICT;
   CREATE TABLE api_key (
     id TEXT PRIMARY KEY,
     hash TEXT NOT NULL,
     last4 TEXT NOT NULL,
     account_id TEXT NOT NULL REFERENCES account (id),
     created_at TEXT NOT NULL,
     revoked_at TEXT,
     last_used_at TEXT
   ) STRICT;
   CREATE TABLE usage (
     account_id TEXT NOT NULL REFERENCES account (id),
     window_id TEXT NOT NULL,
     used INTEGER NOT NULL CHECK (used >= 0),
     granted INTEGER NOT NULL,
     PRIMARY KEY (account_id, window_id)
   ) STRICT, WITHOUT ROWID;`,
]

/** The calls used in later windows: where there are any, the clock went back. */
const LATER = '(SELECT coalesce(sum(used), 0) FROM usage WHERE account_id = ?1 AND window_id > ?2)'

/**
 * Takes account, window, limit and calls. It is one statement, so that no reader can come between the look and the count. An account that
 * does not exist is no error, because calls of others share its commit. `granted` is a column because RETURNING sees only what was written.
 * Calls of later windows count as used of this one too.
 */
const SPEND = `
  INSERT INTO usage (account_id, window_id, used, granted)
  SELECT id, ?2, min(?4, ?3 - ${LATER}), min(?4, ?3 - ${LATER}) FROM account WHERE id = ?1 AND ?3 > ${LATER}
  ON CONFLICT (account_id, window_id) DO UPDATE
  SET granted = min(?4, ?3 - ${LATER} - used), used = min(used + ?4, ?3 - ${LATER})
  WHERE used + ${LATER} < ?3
  RETURNING used + ${LATER} AS used, granted, window_id`

const USAGE = `
  SELECT (SELECT coalesce(sum(used), 0) FROM usage WHERE account_id = id AND window_id >= ?2) AS used
  FROM account WHERE id = ?1`

/**
 * Opens the accounts in the SQLite file at `path`, creating or upgrading it. Any number of processes may have it open
 * at once; what an operation resolved with is on the disk.
 */
export async function openSqliteAccounts(path: string): Promise<SqliteAccounts> {
  const database = await openDatabase(path, STEPS)
  setImpatient(database)
  let open = true
  return {
    ...accountsIn(database),
    ...keysIn(database),
    ...usageIn(database),
    close() {
      if (open) database.close()
      open = false
    },
  }
}

// The reads below are async although SQLite answers at once: what it throws has to become a rejection.

function accountsIn(database: Database): Pick<Accounts, 'createAccount' | 'findAccount' | 'listAccounts' | 'setPlan'> {
  const insert = database.prepare(
    'INSERT INTO account VALUES (:id, :name, :plan, :signupDate) ON CONFLICT (id) DO NOTHING',
  )
  const select = database.prepare('SELECT * FROM account WHERE id = :id')
  const selectAll = database.prepare('SELECT * FROM account ORDER BY id')
  const updatePlan = database.prepare('UPDATE account SET plan = :plan WHERE id = :id')
  return {
    createAccount: async ({ id, name, plan, signupDate }) =>
      whenFree(() => insert.run({ id, name, plan, signupDate }).changes === 1),
    async findAccount(id) {
      const row = select.get({ id })
      return row && readAccount(row)
    },
    listAccounts: async () => selectAll.all().map(readAccount),
    setPlan: async (id, plan) => whenFree(() => updatePlan.run({ id, plan }).changes === 1),
  }
}

function keysIn(
  database: Database,
): Pick<Accounts, 'createKey' | 'findKey' | 'listKeys' | 'revokeKey' | 'replaceKey' | 'recordUses'> {
  const insert = database.prepare(
    `INSERT INTO api_key (id, hash, last4, account_id, created_at, revoked_at)
     VALUES (:id, :hash, :last4, :accountId, :createdAt, :revokedAt)`,
  )
  const selectOwner = database.prepare(
    'SELECT api_key.*, name, plan, signup_date FROM api_key JOIN account ON account.id = account_id WHERE api_key.id = ?',
  )
  const selectAll = database.prepare(
    'SELECT * FROM api_key WHERE :account IS NULL OR account_id = :account ORDER BY created_at, rowid',
  )
  const revoke = database.prepare('UPDATE api_key SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL')
  const recordUse = database.prepare(
    'UPDATE api_key SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)',
  )
  return {
    async createKey(key) {
      await whenFree(() => insert.run(listColumns(key)))
    },
    async findKey(id) {
      const row = selectOwner.get(id)
      return row && { key: readKey(row), account: readAccount({ ...row, id: text(row, 'account_id') }) }
    },
    async listKeys(accountId) {
      return selectAll.all({ account: accountId ?? null }).map(readKey)
    },
    async revokeKey(id, at) {
      return whenFree(() => revoke.run({ id, at }).changes === 1)
    },
    async replaceKey(id, next) {
      const replace = () => {
        if (revoke.run({ id, at: next.createdAt }).changes === 0) return undefined
        const row = required(selectOwner.get(id))
        const accountId = text(row, 'account_id')
        insert.run(listColumns({ ...next, accountId }))
        return readAccount({ ...row, id: accountId })
      }
      return whenFree(() => inTransaction(database, replace))
    },
    async recordUses(uses) {
      const record = () => uses.forEach(({ id, at }) => void recordUse.run(id, at))
      await whenFree(() => inTransaction(database, record))
    },
  }
}

function usageIn(database: Database): Pick<Accounts, 'spend' | 'refund' | 'usage'> {
  const spend = database.prepare(SPEND)
  const refund = database.prepare(
    'UPDATE usage SET used = max(0, used - :calls) WHERE account_id = :account AND window_id = :window',
  )
  const usage = database.prepare(USAGE)
  const spendInTurn = createTurns(database, (asked: readonly SqlValue[]) => spend.get(...asked))
  return {
    async spend(account, window, limit, calls = 1) {
      const counted = await spendInTurn([account, window, limit, calls])
      if (counted) return { granted: number(counted, 'granted'), ...readCount(counted) }
      return { granted: 0, used: number(required(usage.get(account, window)), 'used'), windowId: window }
    },
    async refund(account, window, calls = 1) {
      await whenFree(() => refund.run({ account, window, calls }))
    },
    async usage(account, window) {
      return number(required(usage.get(account, window)), 'used')
    },
  }
}

function listColumns({ id, hash, last4, accountId, createdAt, revokedAt }: StoredKey): SqlRow {
  return { id, hash, last4, accountId, createdAt, revokedAt: revokedAt ?? null }
}
