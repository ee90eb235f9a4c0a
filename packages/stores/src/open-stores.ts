import type { Accounts, Limits } from '@sallyport/accounts'
import { openPostgresAccounts } from './accounts/postgres-accounts.ts'
import { openSqliteAccounts } from './accounts/sqlite-accounts.ts'
import { openRedisLimits } from './limits/redis-limits.ts'
import { openSqliteLimits } from './limits/sqlite-limits.ts'
import { openPostgres, type PostgresOptions } from './postgres/pool.ts'

/** A store that can be closed. */
export type Opened<Store> = Store & { close(): Promise<void> }

export interface AccountsOptions {
  /** Called when the server cannot be reached, which is no error. */
  readonly onUnreachable?: (error: unknown) => void
  readonly postgres?: PostgresOptions
}

/** The accounts that `url` names: `sqlite:FILE` or `postgres://…`. */
export async function openAccounts(url: string, options: AccountsOptions = {}): Promise<Opened<Accounts>> {
  const file = fileOf(url)
  if (file !== undefined) {
    const accounts = await openSqliteAccounts(file)
    return { ...accounts, close: async () => accounts.close() }
  }
  const postgres = await openPostgres(url, options.postgres)
  try {
    return { ...(await openPostgresAccounts(postgres, options.onUnreachable)), close: postgres.close }
  } catch (error) {
    await postgres.close()
    throw error
  }
}

/** The counts by client that `url` names: `sqlite:FILE` or `redis://…`. */
export async function openLimits(url: string): Promise<Opened<Limits>> {
  const file = fileOf(url)
  const limits = await (file === undefined ? openRedisLimits(url) : openSqliteLimits(file))
  return { ...limits, close: async () => limits.close() }
}

function fileOf(url: string): string | undefined {
  return url.startsWith(SQLITE) ? url.slice(SQLITE.length) : undefined
}

const SQLITE = 'sqlite:'
