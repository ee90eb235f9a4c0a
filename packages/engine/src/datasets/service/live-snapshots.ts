import type { Snapshot, Snapshots } from '@sallyport/core'
import type { ResolvedSource } from '../sources/resolve.ts'
import type { Confirmed } from '../tables/listed-addresses.ts'
import { confirmedDays, withFeedStatus } from './feed-status.ts'
import type { Feeds } from './feeds.ts'

/** The snapshot in use. A reload builds the next one beside it and swaps it in with one assignment. */
export interface LiveSnapshots extends Snapshots {
  /** Loads what is on disk now. Calls during a reload share the next one. */
  reload(): Promise<void>
  /** Reloads where any process has changed a feed. */
  reloadIfChanged(): Promise<void>
}

export interface LiveOptions {
  readonly feeds: Feeds
  /** `confirmed` reflects later confirmations by publishers, also for a snapshot loaded before. */
  readonly load: (sources: readonly ResolvedSource[], confirmed: Confirmed) => Promise<Snapshot>
  /** Another snapshot is in use; it took so many milliseconds to load. */
  readonly onSwap?: ((milliseconds: number) => void) | undefined
}

/** Rejects where the first snapshot cannot be made. */
export async function openLiveSnapshots({ feeds, load, onSwap }: LiveOptions): Promise<LiveSnapshots> {
  let revision = feeds.revision()
  let sources = feeds.resolve()
  let days = confirmedDays(sources)
  const confirmed = (source: string) => days.get(source)
  let loaded = await load(sources, confirmed)
  let current = withFeedStatus(loaded, sources)
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  async function swap(): Promise<void> {
    waiting = undefined
    const started = performance.now()
    const nextRevision = feeds.revision()
    const next = feeds.resolve()
    const isNew = filesOf(next) !== filesOf(sources)
    if (isNew) loaded = await load(next, confirmed)
    revision = nextRevision
    sources = next
    days = confirmedDays(next)
    current = withFeedStatus(loaded, next)
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
      if (feeds.revision() !== revision) await reload()
    },
  }
}

/** The input of a snapshot's compile; the rest of a source is status. */
function filesOf(sources: readonly ResolvedSource[]): string {
  return JSON.stringify(sources.map(({ row, file, reason }) => [row.id, file ?? reason]))
}
