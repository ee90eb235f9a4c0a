import type { Observations, RegionTable } from '@sallyport/core'
import type { OnProgress } from '../compile/tables.ts'
import type { FeedPorts } from './feeds.ts'
import type { LiveSnapshots } from './live-snapshots.ts'
import type { MailDomains } from './mail-domains.ts'
import type { FeedMetrics } from './refresh.ts'

/** Hooks of a host on the data. */
export interface DataHooks {
  /** Called while data is compiled, with the source being read, bytes done and bytes in all. */
  readonly onProgress?: OnProgress | undefined
  /** Called when this process waits for another one that compiles the same data. */
  readonly onWait?: (() => void) | undefined
  /** Counts what happens to feeds. */
  readonly metrics?: FeedMetrics | undefined
}

export type DataNotice =
  | 'SALLYPORT_DATA_STALE'
  | 'SALLYPORT_TABLES_REFUSED'
  | 'SALLYPORT_FEED_REFUSED'
  | 'SALLYPORT_OFFLINE'

export interface LiveDataPorts extends FeedPorts {
  /** Decisions read these observations before every snapshot. */
  readonly observations: Observations
  readonly hooks: DataHooks
  readonly notice: (code: DataNotice, message: string) => void
  readonly onFault: (error: unknown) => void
}

/** Holds the data of a running service: loads it, reloads it when its files change and, where configured, refreshes it. */
export interface LiveData {
  readonly snapshots: LiveSnapshots
  /** Opens the places of city files, for rules about regions; this snapshot and all after it have them. Never rejects. */
  readonly openRegions: () => Promise<void>
  /** Opens the regions for one question; snapshots do not get them. */
  readonly readRegions: () => Promise<RegionTable>
  /** Path of the compiled tables in use. */
  readonly tablesFile: () => string
  /** Path of the RDAP bootstrap file that was last downloaded. */
  readonly bootstrapFile: () => string | undefined
  /** Lists the domains that give throwaway mail; `undefined` when no list is loaded. */
  readonly throwawayMail: () => MailDomains | undefined
  close(): Promise<void>
}
