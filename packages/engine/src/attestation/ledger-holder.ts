import { type Clock, DAY_MS, ERRORS, errorText, HOUR_MS, SallyportError } from '@sallyport/core'
import { type Ledger, type LedgerStatus, LedgerUnavailable, RangeTooWide, type Stamp } from '@sallyport/ledger'
import type { RaiseEvent } from '#service'
import type { Settings } from '#settings'
import { isUnreachable } from '#stores'
import { type LedgerPlace, openLedgerAt, openLedgerPlace } from './ledger.ts'
import { type Part, watchLedger } from './ledger-watch.ts'

export interface LedgerHooks {
  readonly clock: Clock
  onFault(error: unknown): void
  /** A signing key was made, in this file. */
  onKeyMade(file: string): void
  /** It does not work, and that it works again. */
  readonly raise: RaiseEvent
  readonly stamper?: LedgerStamper | undefined
}

/** Asks authorities of time, and says why one does not stamp. */
export interface LedgerStamper {
  readonly stamp: Stamp
  fault(): string | undefined
  unanchored(): string
  close(): void
}

/** New records are under a signed checkpoint within a second: this interval and the time to sign. */
const CHECKPOINT_MS = 500
const RETENTION_MS = HOUR_MS
/** Logs are looked at this often. */
const LOOK_MS = 5_000
/** Authorities of time ask not to be asked often, and each timestamp covers all records of a log before it. */
const STAMP_MS = 600_000

/** Opens the ledger once, however many use it at the same time. */
export function holdLedger(config: Settings, { clock, onFault, onKeyMade, raise, stamper }: LedgerHooks) {
  let opening: Promise<{ readonly place: LedgerPlace; readonly ledger: Ledger }> | undefined
  let schedules: readonly ReturnType<typeof schedule>[] = []
  let closed = false
  const watch = watchLedger(raise)

  const createHooks = (part: Part): ScheduleHooks => ({
    onFailure(error) {
      if (closed) return
      onFault(error)
      watch.failed(part, error)
    },
    onSuccess: () => watch.worked(part),
  })

  async function openNow() {
    const place = await openLedgerPlace(config)
    try {
      const ledger = await openLedgerAt(place, config, clock, onKeyMade, stamper)
      const eraseOld = () => erase(place, config, clock.now())
      await eraseOld()
      schedules = [
        schedule(CHECKPOINT_MS, () => ledger.checkpoint(), createHooks('checkpoints')),
        schedule(RETENTION_MS, eraseOld, createHooks('erasure')),
        ...(stamper === undefined ? [] : [schedule(LOOK_MS, () => anchor(ledger, stamper), createHooks('timestamps'))]),
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
    /** Rejects with `ledger_refused`; a database that cannot be reached is reported, and the next use tries again. */
    async open(): Promise<void> {
      try {
        await opened()
      } catch (error) {
        const refused = findRefusal(error)
        // Nobody may read the output of a service at its start; what is raised is sent before it ends.
        watch.failed('records', refused ?? error)
        if (refused !== undefined) throw refused
        onFault(error)
      }
    },
    /** Works with the ledger, opening it first; what the ledger cannot do now is `attestation_unavailable`. */
    async use<T>(work: (ledger: Ledger) => Promise<T>): Promise<T> {
      try {
        const { ledger } = await opened()
        const done = await work(ledger)
        watch.worked('records')
        return done
      } catch (error) {
        if (isAnswer(error)) throw error
        if (error instanceof RangeTooWide) throw new SallyportError('invalid_request', error.message)
        onFault(error)
        if (!closed) watch.failed('records', error)
        throw new SallyportError('attestation_unavailable')
      }
    },
    /** `undefined` while it is not open: reading it opens nothing. */
    status: async (): Promise<LedgerStatus | undefined> =>
      closed ? undefined : (await opening?.catch(() => undefined))?.ledger.status(),
    async close(): Promise<void> {
      closed = true
      stamper?.close()
      const open = await opening?.catch(() => undefined)
      // A checkpoint under way still writes its file after the store has it.
      await Promise.all(schedules.map((schedule) => schedule.stop()))
      await open?.ledger.checkpoint().catch(onFault)
      await open?.place.store.close()
    },
  }
}

/** Has the logs stamped that have grown. Rejects while an authority does not stamp: others may have. */
async function anchor(ledger: Ledger, { fault }: LedgerStamper): Promise<void> {
  await ledger.anchor(STAMP_MS)
  const reason = fault()
  if (reason !== undefined) throw new Error(reason)
}

/** Addresses and contexts are erased after a year by default, because no purpose covers them for ever. */
async function erase({ store }: LedgerPlace, { provenance }: Settings, now: number): Promise<void> {
  const { retentionDays } = provenance
  if (retentionDays !== false) await store.eraseBefore(now - retentionDays * DAY_MS)
}

/** The error that ends the start; `undefined` where the next use may find the ledger. */
function findRefusal(error: unknown): SallyportError | undefined {
  if (error instanceof SallyportError) return error
  return isUnreachable(error)
    ? undefined
    : new SallyportError('ledger_refused', `The ledger cannot be opened: ${errorText(error)}`)
}

/** Codes without a status belong to start-up and the command: to a caller they are an outage. */
function isAnswer(error: unknown): boolean {
  return error instanceof SallyportError && ERRORS[error.code].status !== undefined
}

interface ScheduleHooks {
  onFailure(error: unknown): void
  onSuccess(): void
}

/** A run that takes longer is a failure too, although it may end well. */
const LATE_MS = 60_000

/** Runs `work` at an interval, one run at a time; of failures in a row the first is reported. */
function schedule(everyMs: number, work: () => Promise<unknown>, { onFailure, onSuccess }: ScheduleHooks) {
  let running: Promise<void> | undefined
  let failing = false
  const fail = (error: unknown): void => {
    if (!failing) onFailure(error)
    failing = true
  }
  const run = async () => {
    const late = setTimeout(() => fail(new Error(`it has taken more than ${LATE_MS / 1_000} s`)), LATE_MS).unref()
    try {
      await work()
      failing = false
      onSuccess()
    } catch (error) {
      fail(error)
    } finally {
      clearTimeout(late)
    }
  }
  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = undefined
    })
  }, everyMs)
  timer.unref()
  return {
    /** Begins no other run, and waits for one that is under way. */
    async stop(): Promise<void> {
      clearInterval(timer)
      await running
    },
  }
}
