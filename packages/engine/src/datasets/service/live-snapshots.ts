import type { Snapshot } from '@sallyport/core'

export type LiveSnapshots = Awaited<ReturnType<typeof openLiveSnapshots>>

/** Describes the data on the disk at one time. */
interface SnapshotInput {
  /** The same text means that nothing would be loaded differently; the rest is status. */
  readonly files: string
  readonly load: () => Promise<Snapshot>
  /** Returns the snapshot with the present status of its sources. */
  readonly withStatus: (loaded: Snapshot) => Snapshot
}

export interface LiveOptions {
  readonly read: () => SnapshotInput
  /** Changes whenever `read` may give another input. */
  readonly revision: () => string
  /** Opens what lookups in a snapshot need, before it is in use. */
  readonly prepare?: (() => Promise<void>) | undefined
  /** Called when another snapshot is in use, with the milliseconds that it took to load. */
  readonly onSwap?: ((milliseconds: number) => void) | undefined
}

/**
 * Opens the snapshot in use. A reload builds the next one beside it and swaps it in with one assignment. Rejects where the first snapshot
 * cannot be made.
 */
export async function openLiveSnapshots({ read, revision, prepare, onSwap }: LiveOptions) {
  let seen = revision()
  let input = read()
  let loaded = await input.load()
  let current = input.withStatus(loaded)
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  async function swap(): Promise<void> {
    waiting = undefined
    const started = performance.now()
    const nextSeen = revision()
    const next = read()
    const isNew = next.files !== input.files
    if (isNew) loaded = await next.load()
    await prepare?.()
    seen = nextSeen
    input = next
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
    current: (): Snapshot => current,
    /** Loads what is on disk now. Calls during a reload share the next one. */
    reload,
    /** Reloads when any process has changed data that the snapshot rests on. */
    async reloadIfChanged(): Promise<void> {
      if (revision() !== seen) await reload()
    },
  }
}
