import { join } from 'node:path'
import type { Accounts, Limits } from '@sallyport/accounts'
import { SallyportError } from '@sallyport/core'
import {
  createMemoryLimits,
  createSharedLimits,
  leaseCalls,
  openPostgres,
  openPostgresAccounts,
  openRedisLimits,
  openSqliteAccounts,
  openSqliteLimits,
  recordKeyUses,
  rememberKeys,
} from '@sallyport/stores'
import type { Config } from './config/schema.ts'

/** What `/v1` counts and checks with. */
export interface Stores {
  readonly accounts: Accounts
  readonly limits: Limits
  onKeyUsed(id: string): void
  close(): Promise<void>
}

/** Opens everything that `store`, `redis` and `dataDir` name. An outage is told and is no error. */
export async function openStores(config: Config, onFault: (error: unknown) => void): Promise<Stores> {
  const tell = guarded(onFault)
  const store = await openAccountStore(config, tell)
  try {
    const limits = await openLimits(config, tell)
    const accounts = leaseCalls(store.accounts, { onError: tell })
    const uses = recordKeyUses(accounts, { onError: tell })
    return {
      accounts,
      limits: limits.limits,
      onKeyUsed: uses.used,
      async close() {
        await Promise.all([accounts.close(), uses.close()])
        limits.close()
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * The accounts alone, as they are stored. A PostgreSQL that cannot be reached is told to `onUnreachable` and met again
 * by every operation; one that refuses is `invalid_config`.
 */
export async function openAccountStore(
  { store, dataDir }: Pick<Config, 'store' | 'dataDir'>,
  onUnreachable: (error: unknown) => void,
): Promise<{ readonly accounts: Accounts; close(): Promise<void> }> {
  if (store === undefined || store.startsWith(SQLITE)) {
    const accounts = await openSqliteAccounts(store?.slice(SQLITE.length) ?? join(dataDir, 'state.db'))
    return { accounts: rememberKeys(accounts), close: async () => accounts.close() }
  }
  const postgres = await openPostgres(store)
  try {
    const accounts = await openPostgresAccounts(postgres, onUnreachable)
    return { accounts: rememberKeys(accounts), close: postgres.close }
  } catch (error) {
    await postgres.close()
    if (error instanceof SallyportError) throw error
    throw new SallyportError('invalid_config', `configuration: store: PostgreSQL refuses: ${messageOf(error)}`)
  }
}

/** What a command says of a store that nobody answers for. */
export function unreachable(error: unknown): SallyportError {
  return new SallyportError('service_unavailable', `The store cannot be reached: ${messageOf(error)}`)
}

const SQLITE = 'sqlite:'

/** Counts that cannot be opened are no reason not to start: each process then counts by itself. */
async function openLimits(
  { redis, dataDir }: Config,
  onFault: (error: unknown) => void,
): Promise<{ readonly limits: Limits; close(): void }> {
  try {
    if (redis === undefined) {
      const store = await openSqliteLimits(join(dataDir, 'limits.db'))
      // A file that other processes write is slow at worst, never silent.
      return { limits: createSharedLimits(store, { onOutage: onFault, deadlineMs: 5_000 }), close: store.close }
    }
    const store = await openRedisLimits(redis)
    return { limits: createSharedLimits(store, { onOutage: onFault }), close: store.close }
  } catch (error) {
    onFault(error)
    return { limits: createMemoryLimits(), close() {} }
  }
}

/** A host whose own handler throws must not break what called it. */
function guarded(onFault: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onFault(error)
    } catch {
      // Nobody is left to tell.
    }
  }
}

/** The driver gives several failed addresses of one host as an error without a message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message !== '' ? error.message : 'code' in error ? String(error.code) : error.name
}
