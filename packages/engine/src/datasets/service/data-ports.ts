import type { Observations } from '@sallyport/core'
import type { SnapshotOptions } from './compiled.ts'
import type { FeedPorts } from './feeds.ts'
import type { FeedMetrics } from './refresh.ts'

/** Hooks of a host on the data. */
export interface DataHooks extends Pick<SnapshotOptions, 'onProgress' | 'onWait'> {
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
