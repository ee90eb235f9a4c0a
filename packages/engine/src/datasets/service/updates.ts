import { SallyportError } from '@sallyport/core'
import type { FeedOutcome, UpdateHooks, UpdateOptions } from '../feeds/update.ts'
import type { Feed } from '../sources/feed-state.ts'
import { type DataConfig, type FeedPorts, openFeeds } from './feeds.ts'

export type Updates = ReturnType<typeof createUpdates>

export interface UpdateByHand extends UpdateHooks, Pick<UpdateOptions, 'accept'> {
  readonly source?: string | undefined
  /** Called when this process waits for another one that is updating. */
  readonly onWait?: (() => void) | undefined
}

interface RolledBack {
  readonly source: string
  readonly generation: string
  readonly entries: number
}

/** Creates updates and roll-backs by hand; a running service on the dataDir follows. Throws as `openFeeds`. */
export function createUpdates(config: DataConfig, ports: FeedPorts) {
  const feeds = openFeeds(config, ports)
  return {
    /** Fetches all feeds, or one, now. Throws `invalid_config` for a source that is unknown or switched off. */
    update: ({ source, ...request }: UpdateByHand = {}): Promise<readonly FeedOutcome[]> =>
      feeds.update(source === undefined ? feeds.all : [one(source)], request),
    /** Rolls back one source, or all with a previous generation. Throws `missing_data` where there is none. */
    async rollBack(source?: string): Promise<readonly RolledBack[]> {
      const chosen = source === undefined ? feeds.all.filter((feed) => feeds.state(feed).previous) : [one(source)]
      if (chosen.length === 0) {
        throw new SallyportError('missing_data', 'No source has a previous generation.')
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
      `data.sources.${source}: the source does not exist, is not enabled, or is not refreshed`,
    )
  }
}
