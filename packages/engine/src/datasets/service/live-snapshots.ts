import type { Snapshot, Snapshots } from '@sallyport/core'
import type { Confirmed } from '../tables/listed-addresses.ts'

/** The snapshot in use. A reload builds the next one beside it and swaps it in with one assignment. */
export interface LiveSnapshots extends Snapshots {
  /** Loads what is on disk now. Calls during a reload share the next one. */
  reload(): Promise<void>
  /** Reloads where any process has changed what it rests on. */
  reloadIfChanged(): Promise<void>
}

/** The data on the disk at one time. */
export interface SnapshotInput {
  /** The same text means that nothing would be loaded differently; the rest is status. */
  readonly files: string
  /** By source id the day on which its publisher last confirmed it, in days since the epoch. */
  readonly confirmedDays: ReadonlyMap<string, number>
  /** `confirmed` reflects later confirmations by publishers, also for a snapshot loaded before. */
  readonly load: (confirmed: Confirmed) => Promise<Snapshot>
  /** The snapshot with what is known of its sources now. */
  readonly withStatus: (loaded: Snapshot) => Snapshot
}

export interface LiveOptions {
  readonly read: () => SnapshotInput
  /** Changes whenever `read` may give another input. */
  readonly revision: () => string
  /** Another snapshot is in use; it took so many milliseconds to load. */
  readonly onSwap?: ((milliseconds: number) => void) | undefined
}

/** Rejects where the first snapshot cannot be made. */
export async function openLiveSnapshots({ read, revision, onSwap }: LiveOptions): Promise<LiveSnapshots> {
  let seen = revision()
  let input = read()
  let days = input.confirmedDays
  const confirmed = (source: string) => days.get(source)
  let loaded = await input.load(confirmed)
  let current = input.withStatus(loaded)
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  async function swap(): Promise<void> {
    waiting = undefined
    const started = performance.now()
    const nextSeen = revision()
    const next = read()
    const isNew = next.files !== input.files
    if (isNew) loaded = await next.load(confirmed)
    seen = nextSeen
    input = next
    days = next.confirmedDays
    current = next.withStatus(loaded)
    if (isNew) onSwap?.(performance.now() - started)
  }

  function reload(): Promise<void> {
    if (waiting === undefined) {
      waiting = last.then(swap)
      last = waiting.catch(() => undefined)
    }
    return waiting
  }

  return {
    current: () => current,
    reload,
    async reloadIfChanged() {
      if (revision() !== seen) await reload()
    },
  }
}
