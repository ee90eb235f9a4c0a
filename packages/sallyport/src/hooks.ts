import type { Clock, Dns } from '@sallyport/core'
import type { PublishedKeys } from './agents.ts'
import type { FeedMetrics } from './refresh.ts'
import type { SnapshotHooks } from './snapshot.ts'

/** What a host may want to be told; everything here is optional and nothing waits for it. */
export interface OpenHooks extends Omit<SnapshotHooks, 'onRefused' | 'signal'> {
  /** Something that a person should know; by default a process warning. `code` is stable. */
  readonly onNotice?: (code: NoticeCode, message: string) => void
  /** A bug, or a store that failed: the request was answered without its detail. By default a process warning. */
  readonly onFault?: (error: unknown) => void
  /** What time it is, instead of the system's clock: for requests of another day. */
  readonly clock?: Clock
  /** Who answers for names, instead of the configured servers. */
  readonly dns?: Dns
  /** Keys that count as published by agents: for agents that are simulated. */
  readonly published?: readonly PublishedKeys[]
  /** Counts of what happens to feeds. */
  readonly metrics?: FeedMetrics
}

export type NoticeCode =
  | 'SALLYPORT_FORWARDED_UNTRUSTED'
  | 'SALLYPORT_TABLES_REFUSED'
  | 'SALLYPORT_FEED_REFUSED'
  | 'SALLYPORT_OFFLINE'
  | 'SALLYPORT_SIGNING_KEY_MADE'
  | 'SALLYPORT_FAULT'
