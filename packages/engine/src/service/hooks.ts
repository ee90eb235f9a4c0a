import type { ChallengeProvider, Clock, Dns, Observe, PaymentProvider } from '@sallyport/core'
import type { DataHooks, DataNotice } from '#datasets'
import type { EventSink } from './event.ts'

/** Hooks by which a host observes or replaces a part of the service; all are optional and the service does not wait for them. */
export interface OpenHooks extends DataHooks {
  /** Receives notices for operators; by default each is a line on stderr. `code` is stable. */
  readonly onNotice?: ((code: NoticeCode, message: string) => void) | undefined
  /** Receives bugs and failures of stores; the response did not show their detail. By default each is a line on stderr. */
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Receives every request when its response has ended; must not wait, and must not throw. */
  readonly observe?: Observe | undefined
  /** Takes events for the operator in place of this service, if one of several processes sends them. */
  readonly events?: EventSink | undefined
  /** Replaces the machine's clock, for requests of another day. */
  readonly clock?: Clock | undefined
  /** Resolves names instead of the configured servers. */
  readonly dns?: Dns | undefined
  /** Replaces `challenge.provider` as the provider of challenges at level 3. */
  readonly challengeProvider?: ChallengeProvider | undefined
  /** Takes payments for what rules offer, instead of `payment.url`. */
  readonly payments?: PaymentProvider | undefined
}

/** A host's handler that throws must not break its caller. */
export function guarded(onFault: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onFault(error)
    } catch {
      // Nothing else can receive this error.
    }
  }
}

/** Identifies the subject of a notice; codes are stable, because programs read them. */
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

/** Notices about places that receive events have this code. */
export const SINK_NOTICE = 'SALLYPORT_NOTIFY'

/** Writes one sentence to the terminal: a process warning would add a number and a hint at a stack trace. */
export function sayOnStderr(_code: NoticeCode, message: string): void {
  process.stderr.write(`sallyport: ${message}\n`)
}

/** Smaller data is compiled before an operator notices a delay. */
const LONG_BYTES = 1_000_000

/** Makes a hook that reports once that data is compiled, because the program shows no progress meanwhile. */
export function saysCompiling(notice: NonNullable<OpenHooks['onNotice']>): NonNullable<DataHooks['onProgress']> {
  let isReported = false
  return (_stage, _done, total) => {
    if (isReported || total < LONG_BYTES) return
    isReported = true
    notice(
      'SALLYPORT_DATA_COMPILING',
      'Compiling the data takes 5 to 15 seconds. The next start uses the compiled data.',
    )
  }
}
