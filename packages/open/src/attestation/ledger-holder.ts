import { type Clock, ERRORS, SallyportError } from '@sallyport/core'
import { type Ledger, LedgerUnavailable, RangeTooWide } from '@sallyport/ledger'
import { isUnreachable } from '@sallyport/stores'
import type { Config } from '../config/schema.ts'
import { type LedgerPlace, openLedgerAt, openLedgerPlace } from './ledger.ts'

export interface LedgerHooks {
  readonly clock: Clock
  onFault(error: unknown): void
  /** A signing key was made, in this file. */
  onKeyMade(file: string): void
}

/** New records are under a checkpoint within a second: this often, and the time to sign. */
const CHECKPOINT_MS = 500
const RETENTION_MS = 3_600_000
const DAY_MS = 86_400_000

/** The ledger of a service: opened when it is first needed, and looked after while it is open. */
export interface LedgerHolder {
  /** Rejects with `ledger_refused`; a database that nobody answers for is told, and met again by the next use. */
  open(): Promise<void>
  /** Works with the ledger, opening it first; what the ledger cannot do now is `attestation_unavailable`. */
  use<T>(work: (ledger: Ledger) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Opens the ledger once, however many ask at the same time, and signs what has grown while it is open. */
export function holdLedger(config: Config, { clock, onFault, onKeyMade }: LedgerHooks): LedgerHolder {
  let opening: Promise<{ readonly place: LedgerPlace; readonly ledger: Ledger }> | undefined
  let timers: readonly NodeJS.Timeout[] = []
  let closed = false

  async function openIt() {
    const place = await openLedgerPlace(config)
    try {
      const ledger = await openLedgerAt(place, config, clock, onKeyMade)
      timers = [
        repeat(CHECKPOINT_MS, () => ledger.checkpoint()),
        ...(config.provenance.retentionDays === undefined ? [] : [repeat(RETENTION_MS, () => retain(place))]),
      ]
      if (config.provenance.retentionDays !== undefined) await retain(place)
      return { place, ledger }
    } catch (error) {
      await place.store.close()
      throw error
    }
  }

  function opened() {
    if (closed) throw new LedgerUnavailable('The ledger is closed.')
    opening ??= openIt().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  /** One run at a time; a failure is told when it begins and not every time. */
  function repeat(everyMs: number, work: () => Promise<unknown>): NodeJS.Timeout {
    let running = false
    let failing = false
    const timer = setInterval(() => {
      if (running) return
      running = true
      work()
        .then(
          () => (failing = false),
          (error) => {
            if (!failing && !closed) onFault(error)
            failing = true
          },
        )
        .finally(() => (running = false))
    }, everyMs)
    return timer.unref()
  }

  function retain({ store }: LedgerPlace): Promise<number> {
    return store.eraseBefore(clock.now() - (config.provenance.retentionDays ?? 0) * DAY_MS)
  }

  return {
    async open() {
      try {
        await opened()
      } catch (error) {
        if (error instanceof SallyportError) throw error
        if (!isUnreachable(error)) throw new SallyportError('ledger_refused', `The ledger cannot be opened: ${error}`)
        onFault(error)
      }
    },
    async use(work) {
      try {
        const { ledger } = await opened()
        return await work(ledger)
      } catch (error) {
        throw isAnswer(error) ? error : unavailable(error)
      }
    },
    async close() {
      closed = true
      for (const timer of timers) clearInterval(timer)
      const open = await opening?.catch(() => undefined)
      await open?.ledger.checkpoint().catch(onFault)
      await open?.place.store.close()
    },
  }

  /** Codes without a status are of start-up and the command: to a caller they are an outage. */
  function isAnswer(error: unknown): boolean {
    return error instanceof SallyportError && ERRORS[error.code].status !== undefined
  }

  function unavailable(error: unknown): SallyportError {
    if (error instanceof RangeTooWide) return new SallyportError('invalid_request', error.message)
    onFault(error)
    return new SallyportError('attestation_unavailable')
  }
}
