import { SallyportError } from '@sallyport/core'
import type { Feed, FeedOutcome, UpdateHooks } from '@sallyport/datasets'
import type { Feeds } from './feeds.ts'

/** Work on the feeds of a dataDir by hand; a running service on it follows. */
export interface Updates {
  /** Asks for all feeds, or for one, now. Throws `invalid_config` for a source that is none or is not switched on. */
  update(request?: UpdateByHand): Promise<readonly FeedOutcome[]>
  /** Goes back to the generation before, of one source or of all that have one. Throws `missing_data` for none. */
  rollBack(source?: string): Promise<readonly RolledBack[]>
}

export interface UpdateByHand extends UpdateHooks {
  readonly source?: string
  /** Takes a list whose size jumped. What is broken stays refused. */
  readonly accept?: boolean
  /** Another process is updating, and this one waits for it. */
  readonly onWait?: () => void
}

export interface RolledBack {
  readonly source: string
  readonly generation: string
  readonly entries: number
}

export function createUpdates(feeds: Feeds): Updates {
  return {
    update: ({ source, ...request } = {}) => feeds.update(source === undefined ? feeds.all : [one(source)], request),
    async rollBack(source) {
      const chosen = source === undefined ? feeds.all.filter((feed) => feeds.state(feed).previous) : [one(source)]
      if (chosen.length === 0) {
        throw new SallyportError('missing_data', 'No source has a generation before the present one.')
      }
      const back: RolledBack[] = []
      for (const feed of chosen) {
        const { id, entries } = await feeds.rollBack(feed)
        back.push({ source: feed.row.id, generation: id, entries })
      }
      return back
    },
  }

  function one(source: string): Feed {
    const feed = feeds.all.find(({ row }) => row.id === source)
    if (feed !== undefined) return feed
    throw new SallyportError(
      'invalid_config',
      `data.sources.${source}: there is no such source, it is not switched on, or it is not refreshed`,
    )
  }
}
