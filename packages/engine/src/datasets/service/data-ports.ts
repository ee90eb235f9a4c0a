import type { Observations } from '@sallyport/core'
import type { OnProgress } from '../compile/tables.ts'
import type { FeedPorts } from './feeds.ts'
import type { LiveSnapshots } from './live-snapshots.ts'
import type { FeedMetrics } from './refresh.ts'

/** Hooks of a host on the data. */
export interface DataHooks {
  /** While data is compiled: the source being read, bytes done and bytes in all. */
  readonly onProgress?: OnProgress | undefined
  /** This process waits for another one that compiles the same data. */
  readonly onWait?: (() => void) | undefined
  /** Counts of what happens to feeds. */
  readonly metrics?: FeedMetrics | undefined
}

export type DataNotice =
  | 'SALLYPORT_DATA_STALE'
  | 'SALLYPORT_TABLES_REFUSED'
  | 'SALLYPORT_FEED_REFUSED'
  | 'SALLYPORT_OFFLINE'

export interface LiveDataPorts extends FeedPorts {
  /** Asked before every snapshot. */
  readonly observations: Observations
  readonly hooks: DataHooks
  readonly notice: (code: DataNotice, message: string) => void
  readonly onFault: (error: unknown) => void
}

/** The data of a running service: loaded, reloaded when its files change and, where configured, refreshed. */
export interface LiveData {
  readonly snapshots: LiveSnapshots
  /** Path of the compiled tables in use. */
  readonly tablesFile: () => string
  /** Path of the RDAP bootstrap file that was last downloaded. */
  readonly bootstrapFile: () => string | undefined
  close(): Promise<void>
}
