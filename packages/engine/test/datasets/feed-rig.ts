import { readFileSync } from 'node:fs'
import type { Fetch } from '@sallyport/core'
import type { Test } from 'tap'
import { createDns, createFetch } from '#net'
import { withFreeLock, withLock } from '#stores'
import { countEntries } from '../../src/datasets/feeds/count-entries.ts'
import { type FeedOutcome, type UpdateOptions, updateFeeds } from '../../src/datasets/feeds/update.ts'
import type { DataConfig, FeedPorts } from '../../src/datasets/service/feeds.ts'
import type { Feed } from '../../src/datasets/sources/feed-state.ts'
import { type FeedStore, openFeedStore } from '../../src/datasets/sources/feed-store.ts'
import { resolveFeeds } from '../../src/datasets/sources/resolve.ts'
import { type FeedServer, openFeedServer, type Served } from '../../src/datasets/testing/feed-server.ts'

/** Tests turn the clock of these feeds of a dataDir, which go over the real way out to a server on loopback. */
export interface FeedRig {
  readonly server: FeedServer
  readonly store: FeedStore
  readonly dataDir: string
  readonly outbound: Fetch
  feed(id: string): Feed
  /** Serves something as a source and updates it; what it serves stays. */
  update(id: string, served?: Served, options?: Partial<UpdateOptions>): Promise<FeedOutcome>
  updateFeed(feed: Feed, options?: Partial<UpdateOptions>): Promise<FeedOutcome>
  /** Returns the text of the generation in use, or `undefined`. */
  inUse(id: string): string | undefined
  tick(milliseconds: number): void
}

export async function openFeedRig(t: Test, ids: readonly string[], dataDir = t.testdir()): Promise<FeedRig> {
  const server = await openFeedServer(t)
  const store = openFeedStore(dataDir)
  const outbound = createFetch({ dns: createDns({ timeoutMs: 100 }), allowPrivate: ['127.0.0.1/32'] })
  const urls = ids.map((id) => [id, { url: server.url(`/${id}`) }] as const)
  const feeds = resolveFeeds(Object.fromEntries(urls)).filter(({ published }) => !published)
  let now = Date.UTC(2026, 10, 21)
  const feed = (id: string): Feed => {
    const found = feeds.find(({ row }) => row.id === id)
    if (found === undefined) throw new Error(`no feed ${id}`)
    return found
  }
  async function updateFeed(feed: Feed, options: Partial<UpdateOptions> = {}): Promise<FeedOutcome> {
    const [outcome] = await updateFeeds([feed], {
      store,
      outbound,
      clock: { now: () => now },
      verify: async (row, path) => countEntries(row, path),
      retryMs: 1,
      ...options,
    })
    if (outcome === undefined) throw new Error('no outcome')
    return outcome
  }
  return {
    server,
    store,
    dataDir,
    outbound,
    feed,
    update(id, served, options = {}) {
      if (served !== undefined) server.serve(`/${id}`, served)
      return updateFeed(feed(id), options)
    },
    updateFeed,
    inUse(id) {
      const path = store.file(id, feed(id).url)?.path
      return path === undefined ? undefined : readFileSync(path, 'utf8')
    },
    tick(milliseconds) {
      now += milliseconds
    },
  }
}

/** The ports of a service: its clock is the system's, and its lock the one of the stores. */
export const PORTS: FeedPorts = {
  clock: { now: Date.now },
  outbound: createFetch({ dns: createDns({}) }),
  lock: { withLock, withFreeLock },
}

/** A configuration of data with every default filled in, but that nothing is refreshed. */
export function dataConfig(
  dataDir: string,
  data: Partial<DataConfig['data']> = {},
  trustProxy: readonly string[] = [],
): DataConfig {
  const defaults = { refresh: false, readOnly: false, city: true, sources: {} }
  return { dataDir, trustProxy, data: { ...defaults, ...data }, net: { outbound: true } }
}
