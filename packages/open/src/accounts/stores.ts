import { join } from 'node:path'
import type { Accounts, LimitState, Limits } from '@sallyport/accounts'
import { SallyportError } from '@sallyport/core'
import {
  createSharedLimits,
  leaseCalls,
  type Opened,
  openAccounts,
  openLimits,
  recordKeyUses,
  rememberKeys,
} from '@sallyport/stores'
import type { Config } from '../config/schema.ts'

/** Store beside a dataDir that may not be written: without accounts, and forgotten at the end. */
const IN_MEMORY = 'sqlite::memory:'

/** A call of /v1 waits for two buckets in sequence, which stay under 300 ms, unless `timeouts.counting` gives Redis longer. */
const CALL_DEADLINE_MS = 120

/** Stores that `/v1` counts and checks with. */
export interface Stores {
  readonly accounts: Accounts
  readonly limits: Limits
  onKeyUsed(id: string): void
  close(): Promise<void>
}

/** Opens the stores that `store`, `redis` and `dataDir` name. An outage is reported and is no error. */
export async function openStores(config: Config, onFault: (error: unknown) => void): Promise<Stores> {
  const report = guarded(onFault)
  const store = await openAccountStore(config, report)
  try {
    const limits = await openClientLimits(config, report)
    const accounts = leaseCalls(store, { onError: report })
    const uses = recordKeyUses(accounts, { onError: report })
    return {
      accounts,
      limits,
      onKeyUsed: uses.used,
      async close() {
        await Promise.all([accounts.close(), uses.close()])
        await limits.close()
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * The account store. A PostgreSQL that cannot be reached is reported to `onUnreachable`, and every operation tries
 * again; one that refuses is `invalid_config`.
 */
export async function openAccountStore(
  { store, dataDir, data }: Pick<Config, 'store' | 'dataDir' | 'data'>,
  onUnreachable: (error: unknown) => void,
): Promise<Opened<Accounts>> {
  const url = store ?? (data.readOnly ? IN_MEMORY : `sqlite:${join(dataDir, 'state.db')}`)
  try {
    const accounts = await openAccounts(url, { onUnreachable })
    return { ...rememberKeys(accounts), close: accounts.close }
  } catch (error) {
    if (error instanceof SallyportError || !url.startsWith('postgres')) throw error
    throw new SallyportError('invalid_config', `configuration: store: PostgreSQL refuses: ${messageOf(error)}`)
  }
}

/** The error for a store that cannot be reached. */
export function unreachable(error: unknown): SallyportError {
  return new SallyportError('service_unavailable', `The store cannot be reached: ${messageOf(error)}`)
}

/** A limits store that cannot be opened does not prevent a start: it is an outage, and every use tries again. */
async function openClientLimits(
  { redis, dataDir, data, timeouts }: Config,
  onFault: (error: unknown) => void,
): Promise<Opened<Limits>> {
  const url = redis ?? (data.readOnly ? IN_MEMORY : `sqlite:${join(dataDir, 'limits.db')}`)
  let store: Opened<Limits> | undefined
  let opening: Promise<Opened<Limits>> | undefined

  async function openStore(): Promise<Opened<Limits>> {
    try {
      store = await openLimits(url)
      return store
    } finally {
      opening = undefined
    }
  }

  async function askOpening(ask: (limits: Limits) => Promise<LimitState>): Promise<LimitState> {
    opening ??= openStore()
    return ask(await opening)
  }

  function asking(ask: (limits: Limits) => Promise<LimitState>): Promise<LimitState> {
    return store === undefined ? askOpening(ask) : ask(store)
  }

  await openStore().catch((error: unknown) => {
    if (error instanceof SallyportError) throw error
    onFault(error)
  })
  const limits: Limits = {
    take: (limit, key) => asking((opened) => opened.take(limit, key)),
    look: (limit, key) => asking((opened) => opened.look(limit, key)),
  }
  // SQLite waits for other writers, so it is slow at worst.
  const deadlineMs = redis === undefined ? 5_000 : Math.max(CALL_DEADLINE_MS, timeouts.counting)
  return {
    ...createSharedLimits(limits, { onOutage: onFault, deadlineMs }),
    async close() {
      await opening?.catch(() => {})
      await store?.close()
    },
  }
}

/** A host's handler that throws must not break its caller. */
function guarded(onFault: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onFault(error)
    } catch {
      // There is no one else to report to.
    }
  }
}

/** The driver gives several failed addresses of one host as an error without a message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message !== '' ? error.message : 'code' in error ? String(error.code) : error.name
}
