import type { Snapshot, Snapshots } from '@sallyport/core'
import type { ResolvedSource } from '@sallyport/datasets'
import { withFeedStatus } from './feed-status.ts'
import type { Feeds } from './feeds.ts'

/** The snapshot that answers now. A reload makes a new one beside it and swaps it in one assignment. */
export interface LiveSnapshots extends Snapshots {
  /** Makes what is on the disk now what requests see. While one reload runs, further calls share the next one. */
  reload(): Promise<void>
  /** Reloads where another generation of a feed is in use, whichever process saw to it. */
  follow(): Promise<void>
}

export interface LiveOptions {
  readonly feeds: Feeds
  readonly load: (sources: readonly ResolvedSource[]) => Promise<Snapshot>
  /** Other data answers now; it took so many milliseconds to load. */
  readonly onSwap?: (milliseconds: number) => void
}

/** Rejects where the first snapshot cannot be made. */
export async function openLiveSnapshots({ feeds, load, onSwap }: LiveOptions): Promise<LiveSnapshots> {
  let revision = feeds.revision()
  let sources = feeds.resolve()
  let loaded = await load(sources)
  let current = withFeedStatus(loaded, sources)
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  async function swap(): Promise<void> {
    waiting = undefined
    const started = performance.now()
    const nextRevision = feeds.revision()
    const next = feeds.resolve()
    const isNew = filesOf(next) !== filesOf(sources)
    if (isNew) loaded = await load(next)
    revision = nextRevision
    sources = next
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
