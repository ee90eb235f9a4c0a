import type { Clock, Dns, Observe } from '@sallyport/core'
import type { DataHooks, DataNotice } from '#datasets'

/** Hooks by which a host observes or replaces a part; all are optional and nothing waits for them. */
export interface OpenHooks extends DataHooks {
  /** Something that a person should know; by default a process warning. `code` is stable. */
  readonly onNotice?: ((code: NoticeCode, message: string) => void) | undefined
  /** A bug, or a store that failed: the request was answered without its detail. By default a process warning. */
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Learns of every request when its answer has ended; must not wait, and must not throw. */
  readonly observe?: Observe | undefined
  /** The time, instead of the machine's clock: for requests of another day. */
  readonly clock?: Clock | undefined
  /** Answers questions of names, instead of the configured servers. */
  readonly dns?: Dns | undefined
}

/** A host's handler that throws must not break its caller. */
export function guarded(onFault: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onFault(error)
    } catch {
      // There is no one else to report to.
    }
  }
}

/** Subject of a notice: stable, for programs; by default the `code` of a process warning. */
export type NoticeCode =
  | DataNotice
  | 'SALLYPORT_FORWARDED_UNTRUSTED'
  | 'SALLYPORT_SIGNING_KEY_MADE'
  | 'SALLYPORT_LIST'
  | 'SALLYPORT_FAULT'
