import { join } from 'node:path'
import { type Clock, type Fetch, SallyportError } from '@sallyport/core'
import { SOURCES } from '@sallyport/data/sources'
import type { FeedOutcome, UpdateOptions } from '../feeds/update.ts'
import type { Feed } from '../sources/feed-state.ts'
import { openFeedStore } from '../sources/feed-store.ts'
import { resolveFeeds, resolveSources, type SourceOverrides } from '../sources/resolve.ts'
import type { DataLock } from './data-lock.ts'

/** The keys of a configuration that the data rests on. */
export interface DataConfig {
  readonly dataDir: string
  readonly trustProxy: readonly string[]
  readonly data: {
    readonly refresh: boolean
    readonly readOnly: boolean
    readonly city: boolean
    readonly mirror?: string | undefined
    readonly sources: SourceOverrides
  }
  readonly net: { readonly outbound: boolean }
}

export interface FeedPorts {
  readonly clock: Clock
  readonly outbound: Fetch
  /** `feeds.lock` of the dataDir lets only one of several processes download. */
  readonly lock: DataLock
}

type UpdateRequest = Pick<UpdateOptions, 'accept' | 'signal' | 'onBytes' | 'onOutcome'>

export type Feeds = ReturnType<typeof openFeeds>

export type Outcomes = readonly FeedOutcome[]

/**
 * Opens the feeds of one dataDir: their state, their downloads, updates and roll-backs. Throws `invalid_config` for an unknown source, and
 * where Node does not check TLS certificates.
 */
export function openFeeds(config: DataConfig, { clock, outbound, lock }: FeedPorts) {
  const sources = { ...config.data.sources, ...(config.data.city ? {} : WITHOUT_CITIES) }
  const overrides = withKeys({ ...sources, ...pickFrontEnds(config.trustProxy, sources) })
  const store = openFeedStore(config.dataDir)
  const { mirror } = config.data
  const all = resolveFeeds(overrides, undefined, mirror)
  const path = join(config.dataDir, 'feeds.lock')
  if (config.data.refresh) requireCheckedTls()

  async function update(feeds: readonly Feed[], request: UpdateRequest): Promise<Outcomes> {
    requireCheckedTls()
    await store.sweep(clock.now())
    const [{ updateFeeds }, { openVerifier }] = await Promise.all([
      import('../feeds/update.ts'),
      import('../feeds/verify.ts'),
    ])
    const verifier = openVerifier()
    try {
      return await updateFeeds(feeds, { ...request, store, outbound, clock, verify: verifier.verify })
    } finally {
      await verifier.close()
    }
  }

  return {
    /** Lists the feeds that are switched on; feeds with a URL of the user come first. */
    all,
    /** Returns every source with the file it is read from now. */
    resolve: () => resolveSources(overrides, undefined, store, mirror),
    state: ({ row, url }: Feed) => store.read(row.id, url),
    /** Returns the file of the download in use. */
    file: ({ row, url }: Feed) => store.file(row.id, url),
    /** Updates under the dataDir's lock; `onWait` is called where another process holds it. */
    update(feeds: readonly Feed[], request: UpdateRequest & { readonly onWait?: (() => void) | undefined } = {}) {
      const { onWait, ...own } = request
      return lock.withLock(path, () => update(feeds, own), { onWait })
    },
    /** Updates as `update` does, but returns `undefined` when another process holds the lock. */
    updateIfFree: (feeds: readonly Feed[], request: UpdateRequest = {}) =>
      lock.withFreeLock(path, () => update(feeds, request)),
    /** Copies the user's own list files where they changed. */
    async takeFiles(): Promise<Outcomes> {
      const files = all.filter(({ url }) => url.startsWith('file:'))
      if (files.length === 0) return []
      const { updateFeeds } = await import('../feeds/update.ts')
      // In this thread: the files are the user's own, and start-up waits for them.
      const { countEntries } = await import('../feeds/count-entries.ts')
      return updateFeeds(files, { store, outbound, clock, verify: async (row, path) => countEntries(row, path) })
    },
    /** Rolls back to the previous generation. Throws `missing_data` where there is none. */
    rollBack: ({ row, url }: Feed) => lock.withLock(path, () => store.rollBack(row.id, url)),
    /** Changes whenever any process takes another generation of any feed into use. */
    revision: store.revision,
  }
}

/** Settings of every city database where places must not be known. */
const WITHOUT_CITIES: SourceOverrides = Object.fromEntries(
  SOURCES.filter(({ kind }) => kind === 'city').map(({ id }) => [id, { enabled: false }]),
)

/** Settings for the lists of trusted delivery networks, unless they are switched off. */
function pickFrontEnds(trustProxy: readonly string[], sources: SourceOverrides): SourceOverrides {
  const trusted = SOURCES.filter(({ preset }) => preset !== undefined && trustProxy.includes(preset))
  return Object.fromEntries(trusted.map(({ id }) => [id, { enabled: true, ...sources[id] }]))
}

/** Publishers' keys from the environment, so that none has to be written into a file. */
function withKeys(sources: SourceOverrides): SourceOverrides {
  const key = process.env['SALLYPORT_MAXMIND_KEY']
  if (key === undefined || key === '') return sources
  const keyed = Object.entries(sources).map(([id, override]) => {
    return [id, id.startsWith('maxmind-') ? { key, ...override } : override] as const
  })
  return Object.fromEntries(keyed)
}

/** Downloads decide about visitors, so their origin must be authenticated. */
function requireCheckedTls(): void {
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    throw new SallyportError(
      'invalid_config',
      'NODE_TLS_REJECT_UNAUTHORIZED=0 disables certificate verification, so no data is downloaded',
    )
  }
}
