import type { BanList, Counts } from '@sallyport/core'
import type { Accounts } from '#accounts'

/* A store is loaded when a configuration names its kind. */

export type Opened<Store> = Store & { close(): Promise<void> | void }

/**
 * Opens the accounts at `url`: `sqlite:FILE` or `postgres://…`. Never Redis, which forgets what a customer paid for. A server that cannot
 * be reached is no error, and `onUnreachable` learns it.
 */
export async function openAccountsAt(url: string, onUnreachable?: (error: unknown) => void): Promise<Opened<Accounts>> {
  const file = findFile(url)
  if (file !== undefined) {
    const { openSqliteAccounts } = await import('./accounts/sqlite-accounts.ts')
    return openSqliteAccounts(file)
  }
  const { openPostgres } = await import('./postgres/pool.ts')
  const postgres = await openPostgres(url)
  try {
    const { openPostgresAccounts } = await import('./accounts/postgres-accounts.ts')
    return { ...(await openPostgresAccounts(postgres, onUnreachable)), close: postgres.close }
  } catch (error) {
    await postgres.close()
    throw error
  }
}

/** Opens the counts that `url` names: `sqlite:FILE` or `redis://…`. */
export async function openCounts(url: string): Promise<Opened<Counts>> {
  const file = findFile(url)
  return file === undefined
    ? (await import('./counts/redis-counts.ts')).openRedisCounts(url)
    : (await import('./counts/sqlite-counts.ts')).openSqliteCounts(file)
}

/** Opens the bans that `url` names: `sqlite:FILE` or `redis://…`. `onFault` learns what cannot be read. */
export async function openBansAt(url: string, onFault: (error: unknown) => void): Promise<Opened<BanList>> {
  const file = findFile(url)
  return file === undefined
    ? (await import('./bans/redis-bans.ts')).openRedisBans(url, { onFault })
    : (await import('./bans/sqlite-bans.ts')).openSqliteBans(file)
}

function findFile(url: string): string | undefined {
  return /^sqlite:(.*)/s.exec(url)?.[1]
}
