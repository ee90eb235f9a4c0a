import { join } from 'node:path'
import { type Clock, type Fetch, SallyportError } from '@sallyport/core'
import {
  type Feed,
  type FeedOutcome,
  type FeedState,
  type FeedStore,
  feedsOf,
  type Generation,
  openFeedStore,
  openVerifier,
  type ResolvedSource,
  readAlone,
  resolveSources,
  type SourceFile,
  type SourceOverrides,
  type UpdateHooks,
  updateFeeds,
} from '@sallyport/datasets'
import { withFreeLock, withLock } from '@sallyport/stores'
import type { Config } from '../config/schema.ts'

export interface FeedPorts {
  readonly clock: Clock
  readonly outbound: Fetch
}

export interface UpdateRequest extends UpdateHooks {
  /** Takes a list whose size jumped, and fetches what did not change. */
  readonly accept?: boolean
  readonly signal?: AbortSignal
}

/** The feeds of one dataDir: what they are, what was downloaded of them, and how to get and to undo more. */
export interface Feeds {
  /** All that the configuration asks for, those whose place the user names first. */
  readonly all: readonly Feed[]
  /** Every source with the file that it is to be read from now. */
  resolve(): readonly ResolvedSource[]
  state(feed: Feed): FeedState
  /** The file of the download in use. */
  file(feed: Feed): SourceFile | undefined
  /** Updates under the lock of the dataDir, after whoever has it now; `onWait` is called where somebody has. */
  update(feeds: readonly Feed[], request?: UpdateRequest & { readonly onWait?: () => void }): Promise<Outcomes>
  /** The same, where nobody else in this dataDir is at it: else `undefined`. */
  updateIfFree(feeds: readonly Feed[], request?: UpdateRequest): Promise<Outcomes | undefined>
  /** Copies the lists that the user keeps in files, where they changed. */
  takeFiles(): Promise<Outcomes>
  /** Goes back to the generation before. Throws `missing_data` where there is none. */
  rollBack(feed: Feed): Promise<Generation>
  /** Changes whenever another generation of any feed is in use, whichever process saw to it. */
  revision(): string
}

export type Outcomes = readonly FeedOutcome[]

/** Throws `invalid_config` for a source that is not in the table, and where TLS certificates would not be checked. */
export function openFeeds(config: Config, { clock, outbound }: FeedPorts): Feeds {
  const overrides = withKeys(config.data.sources)
  const store: FeedStore = openFeedStore(config.dataDir)
  const all = feedsOf(overrides)
  const lock = join(config.dataDir, 'feeds.lock')
  if (config.data.refresh) requireCheckedTls()

  async function update(feeds: readonly Feed[], request: UpdateRequest): Promise<Outcomes> {
    requireCheckedTls()
    await store.sweep(clock.now())
    const verifier = openVerifier()
    try {
      return await updateFeeds(feeds, { ...request, store, outbound, clock, verify: verifier.verify })
    } finally {
      await verifier.close()
    }
  }

  return {
    all,
    resolve: () => resolveSources(overrides, undefined, store),
    state: ({ row, url }) => store.read(row.id, url),
    file: ({ row, url }) => store.file(row.id, url),
    update: (feeds, { onWait, ...request } = {}) =>
      withLock(lock, () => update(feeds, request), onWait === undefined ? {} : { onWait }),
    updateIfFree: (feeds, request = {}) => withFreeLock(lock, () => update(feeds, request)),
    async takeFiles() {
      const files = all.filter(({ url }) => url.startsWith('file:'))
      // Read here and not in a thread: they are the user's own, and the first verdict waits for them.
      const verify = async (row: Feed['row'], path: string) => readAlone(row, path)
      return files.length === 0 ? [] : updateFeeds(files, { store, outbound, clock, verify })
    },
    rollBack: ({ row, url }) => withLock(lock, () => store.rollBack(row.id, url)),
    revision: store.revision,
  }
}

/** Keys of publishers that the environment gives, so that none needs to stand in a file. */
function withKeys(sources: Config['data']['sources']): SourceOverrides {
  const key = process.env['SALLYPORT_MAXMIND_KEY']
  if (key === undefined || key === '') return sources
  const keyed = Object.entries(sources).map(([id, override]) => {
    return [id, id.startsWith('maxmind-') ? { key, ...override } : override] as const
  })
  return Object.fromEntries(keyed)
}

/** What is fetched decides about visitors: it is not taken from just anybody. */
function requireCheckedTls(): void {
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    throw new SallyportError(
      'invalid_config',
      'NODE_TLS_REJECT_UNAUTHORIZED=0 switches the check of certificates off: no data is downloaded with it',
    )
  }
}
