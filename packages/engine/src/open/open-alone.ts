import type { Clock } from '@sallyport/core'
import { type LedgerTools, openLedgerTools as openTools } from '#attestation'
import { type ConfigInput, parseConfig } from '#config/service'
import { createUpdates, type Updates } from '#datasets/service'
import {
  createKeyring,
  createOutbound,
  createOverrides,
  DATA_LOCK,
  inDataDir,
  liftBan,
  openAccountStore,
  openBanList,
  openObservations,
  unreachable,
} from '#service'
import type { OpenAccounts, OpenOverrides } from './sallyport.ts'

/* Parts of a service that commands open by themselves: no data is loaded or compiled. */

const SYSTEM_CLOCK: Clock = { now: () => Date.now() }

/** Opens the overrides of a configuration's dataDir; a running process sees the changes. */
export async function openOverrides(options: ConfigInput = {}): Promise<OpenOverrides> {
  const config = parseConfig(options)
  const observations = await inDataDir(config, () => openObservations(config, SYSTEM_CLOCK))
  return {
    overrides: createOverrides(observations, SYSTEM_CLOCK),
    async close() {
      observations.close()
    },
  }
}

/** Opens the bans of a configuration; running processes see what is lifted. Rejects with `service_unavailable`. */
export async function openBans(options: ConfigInput = {}) {
  const bans = await openBanList(parseConfig(options), refuse)
  return {
    bans,
    /** Rejects with `unknown_ban` where there is none of this id. */
    lift: (id: string): Promise<void> => liftBan(bans, id),
    close: async (): Promise<void> => bans.close(),
  }
}

/** Opens the ledger of a configuration alone: no data is loaded. */
export async function openLedgerTools(options: ConfigInput = {}): Promise<LedgerTools> {
  return openTools(parseConfig(options))
}

/** Opens the feeds of a configuration alone, to update them or to roll back. Throws `invalid_config`. */
export function openUpdates(options: ConfigInput = {}): Updates {
  const config = parseConfig(options)
  const { feeds } = createOutbound(config)
  const updates = createUpdates(config, { clock: SYSTEM_CLOCK, outbound: feeds, lock: DATA_LOCK })
  return {
    update: (request) => inDataDir(config, () => updates.update(request)),
    rollBack: (source) => inDataDir(config, () => updates.rollBack(source)),
  }
}

function refuse(error: unknown): never {
  throw unreachable(error)
}

/**
 * Opens the account store of a configuration alone. Rejects with `service_unavailable` where it cannot be reached.
 */
export async function openAccounts(options: ConfigInput = {}): Promise<OpenAccounts> {
  const config = parseConfig(options)
  const openStore = () => openAccountStore(config, refuse)
  const accounts = await (config.store === undefined ? inDataDir(config, openStore) : openStore())
  const close = async () => accounts.close()
  return { accounts, keyring: createKeyring(accounts, SYSTEM_CLOCK, config.api.plans), close }
}
