import { join } from 'node:path'
import {
  type Clock,
  formatHostOrPrefix,
  lastAddress,
  type NetworkClass,
  type ObservationStore,
  type Prefix,
  type PrefixObservation,
  reservedRow,
  SallyportError,
} from '@sallyport/core'
import type { Settings } from '#settings'
import { createMemoryObservations, openSqliteObservations } from '#stores/service'

/** Sets the operator's own verdict on an address or a prefix. */
export interface Override {
  readonly networkClass: NetworkClass
  /** Names the brand of the service behind the prefix. */
  readonly provider?: string | undefined
  /** Milliseconds until the override expires; if absent, it lasts until it is unset. */
  readonly ttlMs?: number | undefined
  readonly note?: string | undefined
}

/**
 * Overrides of addresses and prefixes replace all data, in every process on the dataDir, within half a second. Of several overrides that
 * contain an address, the longest prefix counts. `hostPrefix` makes a prefix of an address.
 */
export interface Overrides {
  /** Rejects with `invalid_request` for a reserved prefix, which cannot be overridden. */
  set(prefix: Prefix, override: Override): Promise<PrefixObservation>
  /** Removes the override of exactly this prefix. Rejects with `unknown_observation` if there is none. */
  unset(prefix: Prefix): Promise<void>
  /** Lists the overrides in force and what reverse names have shown. */
  list(): Promise<readonly PrefixObservation[]>
}

export function createOverrides(store: ObservationStore, clock: Clock): Overrides {
  return {
    async set(prefix, { networkClass, provider = '', ttlMs, note = '' }) {
      const reserved = reservedRow(prefix.address)
      if (reserved !== undefined && reservedRow(lastAddress(prefix)) === reserved) {
        const text = `${formatHostOrPrefix(prefix)} is reserved (${reserved.label}), so a class for it has no effect.`
        throw new SallyportError('invalid_request', text)
      }
      const now = clock.now()
      const observation = {
        ...({ prefix, networkClass, origin: 'operator', provider, setAt: now, note } as const),
        ...(ttlMs === undefined ? {} : { expiresAt: now + ttlMs }),
      }
      await store.put(prefix, observation)
      return observation
    },
    async unset(prefix) {
      const removed = await store.remove(prefix, 'operator')
      if (!removed) throw new SallyportError('unknown_observation', `${formatHostOrPrefix(prefix)} has no override.`)
    },
    list: () => store.list(),
  }
}

/** Opens the observations of a configuration's dataDir; if SQLite is `missing`, observations stay in this process. */
export async function openObservations({ dataDir, data }: Settings, clock: Clock, missing?: SallyportError) {
  if (missing !== undefined) return { ...createMemoryObservations(clock, missing), close() {} }
  return openSqliteObservations(join(dataDir, 'observations.db'), clock, data.readOnly)
}
