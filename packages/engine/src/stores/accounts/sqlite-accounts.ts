import { setImmediate as turn } from 'node:timers/promises'
import type { Accounts } from '#accounts'
import type { Closable } from '../closable.ts'
import type { SqlRow, SqlValue, Statement } from '../sqlite/driver.ts'
import { closeOnce, inTransaction, openDatabase, setImpatient, whenFree } from '../sqlite/open-database.ts'
import { createTurns } from '../sqlite/turns.ts'
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

/** A transaction blocks the event loop: this many uses take some twenty milliseconds. */
const USES_IN_A_TURN = 1_000

const SQLITE: AccountsDialect = { least: 'min', greatest: 'max', byBytes: '', serial: 'rowid' }

/** Opens the accounts in the SQLite file at `path`, for any number of processes. What an operation resolved with is on the disk. */
export async function openSqliteAccounts(path: string): Promise<Accounts & Closable> {
  const database = await openDatabase(path, STEPS)
  setImpatient(database)
  const prepared = new Map<string, Statement>()
  const run = (sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] => {
    const statement = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, statement)
    return statement.all(...values)
  }
  // A write that finds the file locked may keep its snapshot: with the lock taken first, none does.
  const query: Query = (sql, values) =>
    whenFree(() => (/^\s*SELECT/.test(sql) ? run(sql, values) : inTransaction(database, () => run(sql, values))))
  const spend = writeSpend(SQLITE)
  const spendInTurn = createTurns(database, (values: readonly SqlValue[]) => run(spend, values)[0])
  return {
    ...createSqlAccounts(query, SQLITE, spendInTurn),
    async replaceKey(id, { id: nextId, hash, last4, createdAt, revokedAt }) {
      const replace = () => {
        const accountId = run(REVOKE, [id, createdAt])[0]?.['account_id']
        if (accountId === undefined) return undefined
        run(INSERT_KEY, [nextId, hash, last4, accountId, createdAt, revokedAt ?? null])
        return readAccount(required(run(SELECT_ACCOUNT, [accountId])[0]))
      }
      return whenFree(() => inTransaction(database, replace))
    },
    async recordUses(uses) {
      const update =
        'UPDATE api_key SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)'
      for (let from = 0; from < uses.length; from += USES_IN_A_TURN) {
        const part = uses.slice(from, from + USES_IN_A_TURN)
        await whenFree(() => inTransaction(database, () => part.forEach(({ id, at }) => void run(update, [id, at]))))
        await turn()
      }
    },
    close: closeOnce(database),
  }
}
