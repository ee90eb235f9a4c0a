import type { ChallengeProvider, Clock, Dns, Observe } from '@sallyport/core'
import type { DataHooks, DataNotice } from '#datasets'
import type { EventSink } from './event.ts'

/** Hooks by which a host observes or replaces a part; all are optional and nothing waits for them. */
export interface OpenHooks extends DataHooks {
  /** Receives notices for people; by default a line on stderr. `code` is stable. */
  readonly onNotice?: ((code: NoticeCode, message: string) => void) | undefined
  /**
   * Receives bugs and failures of stores; the request was answered without their detail. By default a line on stderr.
   */
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Receives every request when its answer has ended; must not wait, and must not throw. */
  readonly observe?: Observe | undefined
  /** Takes the events for the operator in place of this service: for one of several processes. */
  readonly events?: EventSink | undefined
  /** The time, instead of the machine's clock: for requests of another day. */
  readonly clock?: Clock | undefined
  /** Resolves names, instead of the configured servers. */
  readonly dns?: Dns | undefined
  /** Provider of challenges at level 3, instead of `challenge.provider`. */
  readonly challengeProvider?: ChallengeProvider | undefined
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

/** Subject of a notice: stable, for programs. */
export type NoticeCode =
  | DataNotice
  | 'SALLYPORT_DATA_COMPILING'
  | 'SALLYPORT_FORWARDED_UNTRUSTED'
  | 'SALLYPORT_LOCAL_CLIENT'
  | 'SALLYPORT_SIGNING_KEY_MADE'
  | 'SALLYPORT_LIST'
  | typeof SINK_NOTICE
  | 'SALLYPORT_ROBOTS'
  | 'SALLYPORT_SQLITE'
  | 'SALLYPORT_FAULT'

/** The code of notices about places that events are sent to. */
export const SINK_NOTICE = 'SALLYPORT_NOTIFY'

/** One sentence for who reads the terminal: a process warning would put a number and a hint at a stack around it. */
export function sayOnStderr(_code: NoticeCode, message: string): void {
  process.stderr.write(`sallyport: ${message}\n`)
}

/** Less is compiled before somebody begins to wonder. */
const LONG_BYTES = 1_000_000

/** A hook that says once that data is compiled, for a program that shows no progress and seems to stand still. */
export function saysCompiling(notice: NonNullable<OpenHooks['onNotice']>): NonNullable<DataHooks['onProgress']> {
  let said = false
  return (_stage, _done, total) => {
    if (said || total < LONG_BYTES) return
    said = true
    notice(
      'SALLYPORT_DATA_COMPILING',
      'The data is compiled, which takes 5 to 15 seconds; the next start has it ready.',
    )
  }
}
