import type { Account, Accounts, StoredKey } from '#accounts'

/** A row of the tables `account`, `api_key` or `usage`, as either database gives it. */
type Row = Readonly<Record<string, unknown>>

/** Runs one statement with `?1` … and returns its rows. */
export type Query = (sql: string, values?: readonly (null | number | string)[]) => Promise<readonly Row[]>

/** What the databases write in different ways. */
export interface AccountsDialect {
  readonly least: 'least' | 'min'
  readonly greatest: 'greatest' | 'max'
  /** Orders texts by their bytes. */
  readonly byBytes: '' | 'COLLATE "C"'
  /** Names the column that orders keys of one moment. */
  readonly serial: 'rowid' | 'serial'
}

export const INSERT_KEY =
  'INSERT INTO api_key (id, hash, last4, account_id, created_at, revoked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)'
export const REVOKE = 'UPDATE api_key SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL RETURNING account_id'
export const SELECT_ACCOUNT = 'SELECT * FROM account WHERE id = ?1'
const SELECT_KEY =
  'SELECT api_key.*, name, plan, signup_date FROM api_key JOIN account ON account.id = account_id WHERE api_key.id = ?1'

/** The calls used in later windows: where there are any, the clock went back. */
const LATER =
  '(SELECT CAST(coalesce(sum(l.used), 0) AS bigint) FROM usage l WHERE l.account_id = ?1 AND l.window_id > ?2)'

/**
 * Takes account, window, limit and calls. It is one statement, so that no reader can come between the look and the count. An account that
 * does not exist is no error, because calls of others may share its commit. `granted` is a column because RETURNING sees only what was
 * written. Calls of later windows count as used of this one too.
 */
export function writeSpend({ least }: AccountsDialect): string {
  const [limit, calls] = ['CAST(?3 AS bigint)', 'CAST(?4 AS bigint)']
  return `
    INSERT INTO usage (account_id, window_id, used, granted)
    SELECT id, ?2, ${least}(${calls}, ${limit} - ${LATER}), ${least}(${calls}, ${limit} - ${LATER})
    FROM account WHERE id = ?1 AND ${limit} > ${LATER}
    ON CONFLICT (account_id, window_id) DO UPDATE
    SET granted = ${least}(${calls}, ${limit} - ${LATER} - usage.used),
        used = ${least}(usage.used + ${calls}, ${limit} - ${LATER})
    WHERE usage.used + ${LATER} < ${limit}
    RETURNING used + ${LATER} AS used, granted, window_id`
}

const USAGE = `
  SELECT (SELECT CAST(coalesce(sum(used), 0) AS bigint) FROM usage WHERE account_id = id AND window_id >= ?2) AS used
  FROM account WHERE id = ?1`

/** The operations on accounts that are alike in all databases; `spend` runs the statement of `writeSpend`. */
export function createSqlAccounts(
  query: Query,
  { greatest, byBytes, serial }: AccountsDialect,
  spend: (values: readonly (number | string)[]) => Promise<Row | undefined>,
): Omit<Accounts, 'replaceKey' | 'recordUses'> {
  async function readUsage(account: string, window: string): Promise<number> {
    return Number(required((await query(USAGE, [account, window]))[0])['used'])
  }

  return {
    async createAccount({ id, name, plan, signupDate }) {
      const insert = 'INSERT INTO account VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO NOTHING RETURNING id'
      return (await query(insert, [id, name, plan, signupDate])).length === 1
    },
    findAccount: async (id) => (await query(SELECT_ACCOUNT, [id])).map(readAccount)[0],
    listAccounts: async () => (await query(`SELECT * FROM account ORDER BY id ${byBytes}`)).map(readAccount),
    async setPlan(id, plan) {
      return (await query('UPDATE account SET plan = ?2 WHERE id = ?1 RETURNING id', [id, plan])).length === 1
    },
    async createKey({ id, hash, last4, accountId, createdAt, revokedAt }) {
      await query(INSERT_KEY, [id, hash, last4, accountId, createdAt, revokedAt ?? null])
    },
    findKey: async (id) => (await query(SELECT_KEY, [id])).map(readKeyOwner)[0],
    async listKeys(accountId) {
      const where = 'CAST(?1 AS text) IS NULL OR account_id = ?1'
      const select = `SELECT * FROM api_key WHERE ${where} ORDER BY created_at ${byBytes}, ${serial}`
      return (await query(select, [accountId ?? null])).map(readKey)
    },
    revokeKey: async (id, at) => (await query(REVOKE, [id, at])).length === 1,
    async spend(account, window, limit, calls = 1) {
      const counted = await spend([account, window, limit, calls])
      if (counted !== undefined) {
        const { granted, used, window_id: windowId } = counted
        return { granted: Number(granted), used: Number(used), windowId: String(windowId) }
      }
      return { granted: 0, used: await readUsage(account, window), windowId: window }
    },
    async refund(account, window, calls = 1) {
      const update = `UPDATE usage SET used = ${greatest}(0, used - ?3) WHERE account_id = ?1 AND window_id = ?2`
      await query(update, [account, window, calls])
    },
    usage: readUsage,
  }
}

export function readAccount({ id, name, plan, signup_date: signupDate }: Row): Account {
  return { id: String(id), name: String(name), plan: String(plan), signupDate: String(signupDate) }
}

/** Reads a row of `SELECT_KEY`. Each call of a key runs this, and a copy of the whole row would take longer than both readers. */
function readKeyOwner(row: Row) {
  const { account_id: id, name, plan, signup_date } = row
  return { key: readKey(row), account: readAccount({ id, name, plan, signup_date }) }
}

function readKey(row: Row): StoredKey {
  const { revoked_at: revokedAt, last_used_at: lastUsedAt } = row
  return {
    id: String(row['id']),
    hash: String(row['hash']),
    last4: String(row['last4']),
    accountId: String(row['account_id']),
    createdAt: String(row['created_at']),
    ...(revokedAt !== null && { revokedAt: String(revokedAt) }),
    ...(lastUsedAt !== null && { lastUsedAt: String(lastUsedAt) }),
  }
}

/** Returns a row that a foreign key must hold in place, or throws. */
export function required(row: Row | undefined): Row {
  if (row === undefined) throw new Error('A row that a foreign key holds in place is missing.')
  return row
}
