import { type Account, type Accounts, isPlanName, type StoredKey } from '@sallyport/accounts'
import type { SqlRow } from './driver.ts'
import { openDatabase } from './open-database.ts'

/** Accounts in a file; `close` gives the file back, once or more often; everything after it rejects. */
export interface SqliteAccounts extends Accounts {
  close(): void
}

/** Every version of the tables; a step that has been released is never changed, a new one is added. */
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
     revoked_at TEXT
   ) STRICT;
   CREATE TABLE usage (
     account_id TEXT NOT NULL REFERENCES account (id),
     window_id TEXT NOT NULL,
     used INTEGER NOT NULL CHECK (used >= 0),
     PRIMARY KEY (account_id, window_id)
   ) STRICT, WITHOUT ROWID;`,
]

/**
 * One statement, so that no reader can come between the look and the count. The window is the latest known: once a
 * later one has begun, a clock that went back counts there.
 */
const SPEND = `
  INSERT INTO usage (account_id, window_id, used)
  SELECT :account, max(:window, coalesce((SELECT max(window_id) FROM usage WHERE account_id = :account), '')), 1
  WHERE :limit > 0
  ON CONFLICT (account_id, window_id) DO UPDATE SET used = used + 1 WHERE used < :limit
  RETURNING used, window_id`

const USAGE = `
  SELECT used, window_id FROM usage WHERE account_id = :account AND window_id >= :window
  ORDER BY window_id DESC LIMIT 1`

/**
 * Opens the accounts in the SQLite file at `path`, creating or upgrading it. Any number of processes may have it open
 * at once; what an operation resolved with is on the disk.
 */
export async function openSqliteAccounts(path: string): Promise<SqliteAccounts> {
  const database = await openDatabase(path, STEPS)
  let open = true
  const insertAccount = database.prepare(
    'INSERT INTO account VALUES (:id, :name, :plan, :signupDate) ON CONFLICT (id) DO NOTHING',
  )
  const selectAccount = database.prepare('SELECT * FROM account WHERE id = :id')
  const selectAccounts = database.prepare('SELECT * FROM account ORDER BY id')
  const updatePlan = database.prepare('UPDATE account SET plan = :plan WHERE id = :id')
  const insertKey = database.prepare(
    'INSERT INTO api_key VALUES (:id, :hash, :last4, :accountId, :createdAt, :revokedAt)',
  )
  const selectKey = database.prepare('SELECT * FROM api_key WHERE id = :id')
  const selectKeys = database.prepare(
    'SELECT * FROM api_key WHERE :account IS NULL OR account_id = :account ORDER BY created_at, rowid',
  )
  const revoke = database.prepare('UPDATE api_key SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL')
  const spend = database.prepare(SPEND)
  const refund = database.prepare(
    'UPDATE usage SET used = used - 1 WHERE account_id = :account AND window_id = :window AND used > 0',
  )
  const usage = database.prepare(USAGE)

  // The methods are async although SQLite answers at once: what it throws has to become a rejection.
  return {
    async createAccount({ id, name, plan, signupDate }) {
      return insertAccount.run({ id, name, plan, signupDate }).changes === 1
    },
    async findAccount(id) {
      const row = selectAccount.get({ id })
      return row && accountOf(row)
    },
    async listAccounts() {
      return selectAccounts.all().map(accountOf)
    },
    async setPlan(id, plan) {
      return updatePlan.run({ id, plan }).changes === 1
    },
    async createKey({ id, hash, last4, accountId, createdAt, revokedAt }) {
      insertKey.run({ id, hash, last4, accountId, createdAt, revokedAt: revokedAt ?? null })
    },
    async findKey(id) {
      const row = selectKey.get({ id })
      const owner = row && selectAccount.get({ id: text(row, 'account_id') })
      return row && owner && { key: keyOf(row), account: accountOf(owner) }
    },
    async listKeys(accountId) {
      return selectKeys.all({ account: accountId ?? null }).map(keyOf)
    },
    async revokeKey(id, at) {
      return revoke.run({ id, at }).changes === 1
    },
    async spend(account, window, limit) {
      const counted = spend.get({ account, window, limit })
      if (counted) return { allowed: true, used: number(counted, 'used'), windowId: text(counted, 'window_id') }
      const row = usage.get({ account, window })
      return row
        ? { allowed: false, used: number(row, 'used'), windowId: text(row, 'window_id') }
        : { allowed: false, used: 0, windowId: window }
    },
    async refund(account, window) {
      refund.run({ account, window })
    },
    async usage(account, window) {
      const row = usage.get({ account, window })
      return row ? number(row, 'used') : 0
    },
    close() {
      if (open) database.close()
      open = false
    },
  }
}

function accountOf(row: SqlRow): Account {
  const plan = text(row, 'plan')
  if (!isPlanName(plan)) throw new Error(`Account ${text(row, 'id')} has an unknown plan: ${plan}`)
  return { id: text(row, 'id'), name: text(row, 'name'), plan, signupDate: text(row, 'signup_date') }
}

function keyOf(row: SqlRow): StoredKey {
  return {
    id: text(row, 'id'),
    hash: text(row, 'hash'),
    last4: text(row, 'last4'),
    accountId: text(row, 'account_id'),
    createdAt: text(row, 'created_at'),
    ...(row['revoked_at'] === null ? {} : { revokedAt: text(row, 'revoked_at') }),
  }
}

function text(row: SqlRow, column: string): string {
  return String(row[column])
}

function number(row: SqlRow, column: string): number {
  return Number(row[column])
}
