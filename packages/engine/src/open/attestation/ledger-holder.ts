import { type Clock, ERRORS, SallyportError } from '@sallyport/core'
import { type Ledger, type LedgerStatus, LedgerUnavailable, RangeTooWide } from '@sallyport/ledger'
import { isUnreachable } from '#stores'
import type { Config } from '../config/schema.ts'
import { type LedgerPlace, openLedgerAt, openLedgerPlace } from './ledger.ts'

export interface LedgerHooks {
  readonly clock: Clock
  onFault(error: unknown): void
  /** A signing key was made, in this file. */
  onKeyMade(file: string): void
}

/** New records are under a signed checkpoint within a second: this interval and the time to sign. */
const CHECKPOINT_MS = 500
const RETENTION_MS = 3_600_000
const DAY_MS = 86_400_000

/** The ledger of a service: opened at its first use, then checkpointed and erased by age while it is open. */
export interface LedgerHolder {
  /** Rejects with `ledger_refused`; a database that cannot be reached is reported, and the next use tries again. */
  open(): Promise<void>
  /** Works with the ledger, opening it first; what the ledger cannot do now is `attestation_unavailable`. */
  use<T>(work: (ledger: Ledger) => Promise<T>): Promise<T>
  /** `undefined` while it is not open: reading it opens nothing. */
  status(): Promise<LedgerStatus | undefined>
  close(): Promise<void>
}

/** Opens the ledger once, however many use it at the same time. */
export function holdLedger(config: Config, { clock, onFault, onKeyMade }: LedgerHooks): LedgerHolder {
  const { retentionDays } = config.provenance
  let opening: Promise<{ readonly place: LedgerPlace; readonly ledger: Ledger }> | undefined
  let schedules: readonly Schedule[] = []
  let closed = false

  async function openNow() {
    const place = await openLedgerPlace(config)
    try {
      const ledger = await openLedgerAt(place, config, clock, onKeyMade)
      const onFailure = (error: unknown) => {
        if (!closed) onFault(error)
      }
      // Addresses and contexts go after a year unless the operator says otherwise (D271).
      const eraseOld = async () => {
        if (retentionDays !== false) await place.store.eraseBefore(clock.now() - retentionDays * DAY_MS)
      }
      await eraseOld()
      schedules = [
        schedule(CHECKPOINT_MS, () => ledger.checkpoint(), onFailure),
        schedule(RETENTION_MS, eraseOld, onFailure),
      ]
      return { place, ledger }
    } catch (error) {
      await place.store.close()
      throw error
    }
  }

  function opened() {
    if (closed) throw new LedgerUnavailable('The ledger is closed.')
    opening ??= openNow().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
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
        if (isAnswer(error)) throw error
        if (error instanceof RangeTooWide) throw new SallyportError('invalid_request', error.message)
        onFault(error)
        throw new SallyportError('attestation_unavailable')
      }
    },
    async status() {
      const open = closed ? undefined : await opening
      return open?.ledger.status()
    },
    async close() {
      closed = true
      const open = await opening?.catch(() => undefined)
      // A checkpoint under way still writes its file after the store has it.
      await Promise.all(schedules.map((schedule) => schedule.stop()))
      await open?.ledger.checkpoint().catch(onFault)
      await open?.place.store.close()
    },
  }
}

/** Codes without a status belong to start-up and the command: to a caller they are an outage. */
function isAnswer(error: unknown): boolean {
  return error instanceof SallyportError && ERRORS[error.code].status !== undefined
}

interface Schedule {
  /** Begins no other run, and waits for one that is under way. */
  stop(): Promise<void>
}

/** Runs `work` at an interval, one run at a time; of failures in a row the first is reported. */
function schedule(everyMs: number, work: () => Promise<unknown>, onFailure: (error: unknown) => void): Schedule {
  let running: Promise<void> | undefined
  let failing = false
  const run = async () => {
    try {
      await work()
      failing = false
    } catch (error) {
      if (!failing) onFailure(error)
      failing = true
    }
  }
  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = undefined
    })
  }, everyMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
