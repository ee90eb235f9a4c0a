import type { Observations } from '@sallyport/core'
import type { OnProgress } from '../compile/tables.ts'
import type { FeedPorts } from './feeds.ts'
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
