import { join } from 'node:path'
import {
  type Address,
  type AddressObservation,
  type Clock,
  formatAddress,
  type NetworkClass,
  type ObservationStore,
  reservedRow,
  SallyportError,
} from '@sallyport/core'
import { openSqliteObservations, type SqliteObservations } from '@sallyport/stores'
import type { Config } from '../config/schema.ts'

/** The operator's own verdict on one address. */
export interface Override {
  readonly networkClass: NetworkClass
  /** Brand of the service behind it. */
  readonly provider?: string
  /** Milliseconds; absent: until it is unset. */
  readonly ttlMs?: number
  readonly note?: string
}

/** Overrides of single addresses: they beat all data, in every process on the dataDir, within half a second. */
export interface Overrides {
  /** Rejects with `invalid_request` for a reserved address, which cannot be overridden. */
  set(address: Address, override: Override): Promise<AddressObservation>
  /** Rejects with `unknown_observation` where there is none. */
  unset(address: Address): Promise<void>
  /** The overrides in force and what reverse names have shown, by address. */
  list(): Promise<readonly AddressObservation[]>
}

export function createOverrides(store: ObservationStore, clock: Clock): Overrides {
  return {
    async set(address, { networkClass, provider = '', ttlMs, note = '' }) {
      const reserved = reservedRow(address)
      if (reserved !== undefined) {
        const text = `${formatAddress(address)} is reserved (${reserved.label}): nothing that is set for it would be used.`
        throw new SallyportError('invalid_request', text)
      }
      const now = clock.now()
      const observation = {
        ...({ address, networkClass, origin: 'operator', provider, setAt: now, note } as const),
        ...(ttlMs === undefined ? {} : { expiresAt: now + ttlMs }),
      }
      await store.put(address, observation)
      return observation
    },
    async unset(address) {
      const removed = await store.remove(address, 'operator')
      if (!removed) throw new SallyportError('unknown_observation', `Nothing is set for ${formatAddress(address)}.`)
    },
    list: () => store.list(),
  }
}

/** Opens the observations of a configuration's dataDir. */
export async function openObservations({ dataDir, data }: Config, clock: Clock): Promise<SqliteObservations> {
  return openSqliteObservations(join(dataDir, 'observations.db'), clock, { readOnly: data.readOnly })
}
