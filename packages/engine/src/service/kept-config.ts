import cluster from 'node:cluster'
import { readdirSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import type { Settings } from '#settings'
import { findMissingSqlite } from '#stores/service'
import type { OpenHooks } from './hooks.ts'

/** Holds the settings by which a service opens its stores. */
export interface Keeping<Kept extends Settings = Settings> {
  /** As configured; without SQLite as in a dataDir to which nothing is written. */
  readonly kept: Kept
  /** The `package_missing` that work which must be kept rejects with; absent: SQLite can be used. */
  readonly missing?: SallyportError | undefined
}

/**
 * Decides whether a service keeps its stores in files. An application that configures no store needs no SQLite: its counts, bans
 * and crawler checks are in memory. Rejects with `package_missing` where a setting needs SQLite, or where the dataDir holds databases
 * of an earlier start.
 */
export async function readKeeping<Kept extends Settings>(
  config: Kept,
  notice: NonNullable<OpenHooks['onNotice']>,
): Promise<Keeping<Kept>> {
  const missing = await findMissingSqlite()
  if (missing === undefined) return { kept: config }
  const reason = reasonForSqlite(config)
  if (reason !== undefined) {
    throw new SallyportError(missing.code, `${reason}. ${missing.message}`, missing.details)
  }
  notice(
    'SALLYPORT_SQLITE',
    `Bans and counts are lost when this process ends, and reports have no data. ${missing.message}`,
  )
  return { kept: { ...config, data: { ...config.data, readOnly: true } }, missing }
}

/** Returns what needs SQLite in the configuration or in the dataDir. */
function reasonForSqlite({ store, redis, counting, provenance, dataDir, data }: Settings): string | undefined {
  if (store?.startsWith('sqlite:')) return 'store is a SQLite file'
  if (store === undefined && provenance.signingKey !== undefined && !data.readOnly) {
    return 'provenance.signingKey needs a ledger in a SQLite file'
  }
  if (counting.place === 'dataDir') return 'counting.place: dataDir counts in a SQLite file'
  if (counting.place === 'auto' && redis === undefined && cluster.isWorker) {
    return 'Cluster workers share their counts in a SQLite file'
  }
  const database = readdirSync(dataDir).find((name) => name.endsWith('.db'))
  return database === undefined ? undefined : `${dataDir} contains ${database} from an earlier start`
}
