import { join } from 'node:path'
import { errorText, SallyportError } from '@sallyport/core'
import { type Accounts, createMemoryAccounts } from '#accounts'
import type { Settings } from '#settings'
import { leaseCalls, type Opened, openAccountsAt, recordKeyUses, rememberKeys } from '#stores/service'
import type { Keeping } from '../kept-config.ts'

/** Opens the accounts that `store` or `dataDir` names. An outage is reported and is no error. */
export async function openStores({ kept, missing }: Keeping, onFault: (error: unknown) => void) {
  const store = await openAccountStore(kept, onFault, missing)
  const accounts = leaseCalls(store, onFault)
  const uses = recordKeyUses(accounts, onFault)
  return {
    accounts,
    onKeyUsed: uses.used,
    async close(): Promise<void> {
      await Promise.all([accounts.close(), uses.close()])
      await store.close()
    },
  }
}

/**
 * The account store. A PostgreSQL that cannot be reached is reported to `onUnreachable`, and every operation tries
 * again; one that refuses is `invalid_config`. Without a store, and where nothing is written, no account can be made that lasts: making
 * one rejects with `missing` where that says why.
 */
export async function openAccountStore(
  { store, dataDir, data }: Pick<Settings, 'store' | 'dataDir' | 'data'>,
  onUnreachable: (error: unknown) => void,
  missing?: SallyportError | undefined,
): Promise<Opened<Accounts>> {
  if (store === undefined && data.readOnly) {
    const memory = { ...createMemoryAccounts(), close: async () => {} }
    return missing === undefined ? memory : { ...memory, createAccount: () => Promise.reject(missing) }
  }
  const url = store ?? `sqlite:${join(dataDir, 'state.db')}`
  try {
    const accounts = await openAccountsAt(url, onUnreachable)
    return { ...rememberKeys(accounts), close: accounts.close }
  } catch (error) {
    if (store === undefined) throw error
    if (error instanceof SallyportError) {
      throw error.code === 'data_dir_unusable' ? new SallyportError(error.code, `store: ${error.message}`) : error
    }
    if (!url.startsWith('postgres')) throw new SallyportError('invalid_config', `store: ${url}: ${errorText(error)}`)
    throw new SallyportError('invalid_config', `configuration: store: PostgreSQL cannot be used: ${errorText(error)}`)
  }
}

/** The error for a store that cannot be reached. */
export function unreachable(error: unknown): SallyportError {
  return new SallyportError('service_unavailable', `The store cannot be reached: ${errorText(error)}`)
}
