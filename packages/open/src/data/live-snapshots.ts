import type { Snapshot, Snapshots } from '@sallyport/core'
import type { Confirmed, ResolvedSource } from '@sallyport/datasets'
import { confirmedDays, withFeedStatus } from './feed-status.ts'
import type { Feeds } from './feeds.ts'

/** The snapshot that answers now. A reload makes a new one beside it and swaps it in one assignment. */
export interface LiveSnapshots extends Snapshots {
  /** Makes what is on the disk now what requests see. While one reload runs, further calls share the next one. */
  reload(): Promise<void>
  /** Reloads where something else is known of a feed, whichever process saw to it. */
  follow(): Promise<void>
}

export interface LiveOptions {
  readonly feeds: Feeds
  /** `confirmed` follows what publishers say later, while what was loaded goes on. */
  readonly load: (sources: readonly ResolvedSource[], confirmed: Confirmed) => Promise<Snapshot>
  /** Other data answers now; it took so many milliseconds to load. */
  readonly onSwap?: (milliseconds: number) => void
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
    async follow() {
      if (feeds.revision() !== revision) await reload()
    },
  }
}

/** What a snapshot is made from; the rest of a source is only said of it. */
function filesOf(sources: readonly ResolvedSource[]): string {
  return JSON.stringify(sources.map(({ row, file, reason }) => [row.id, file ?? reason]))
}
