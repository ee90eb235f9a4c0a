import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { createDns, createFetch } from '#net'
import { withFreeLock, withLock } from '#stores'
import { countEntries } from '../../src/datasets/feeds/count-entries.ts'
import { type FeedOutcome, type UpdateOptions, updateFeeds } from '../../src/datasets/feeds/update.ts'
import type { DataConfig, FeedPorts } from '../../src/datasets/service/feeds.ts'
import type { Feed } from '../../src/datasets/sources/feed-state.ts'
import { openFeedStore } from '../../src/datasets/sources/feed-store.ts'
import { resolveFeeds } from '../../src/datasets/sources/resolve.ts'
import { openFeedServer, type Served } from '../../src/datasets/testing/feed-server.ts'

export type FeedRig = Awaited<ReturnType<typeof openFeedRig>>

/** Opens feeds of a dataDir whose clock a test turns; they go over the real way out to a server on loopback. */
export async function openFeedRig(t: Test, ids: readonly string[], dataDir = t.testdir()) {
  const server = await openFeedServer(t)
  const store = openFeedStore(dataDir)
  const outbound = createFetch({ dns: createDns({ timeoutMs: 100 }), allowPrivate: ['127.0.0.1/32'] })
  const urls = ids.map((id) => [id, { url: server.url(`/${id}`) }] as const)
  const feeds = resolveFeeds(Object.fromEntries(urls)).filter(({ published }) => !published)
  let now = Date.UTC(2026, 10, 21)
  const feed = (id: string) => feeds.find(({ row }) => row.id === id) as Feed
  async function updateFeed(feed: Feed, options: Partial<UpdateOptions> = {}): Promise<FeedOutcome> {
    const [outcome] = await updateFeeds([feed], {
      store,
      outbound,
      clock: { now: () => now },
      verify: async (row, path) => countEntries(row, path),
      retryMs: 1,
      ...options,
    })
    return outcome as FeedOutcome
  }
  return {
    server,
    store,
    dataDir,
    outbound,
    feed,
    /** Serves something as a source and updates it; what it serves stays. */
    update(id: string, served?: Served, options: Partial<UpdateOptions> = {}) {
      if (served !== undefined) server.serve(`/${id}`, served)
      return updateFeed(feed(id), options)
    },
    updateFeed,
    inUse(id: string) {
      const path = store.file(id, feed(id).url)?.path
      return path === undefined ? undefined : readFileSync(path, 'utf8')
    },
    tick(milliseconds: number) {
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

type Data = Partial<DataConfig['data']>

/** A configuration of data with every default filled in, but that nothing is refreshed. */
export function dataConfig(dataDir: string, data: Data = {}, trustProxy: readonly string[] = []): DataConfig {
  const defaults = { refresh: false, readOnly: false, city: true, sources: {} }
  return { dataDir, trustProxy, data: { ...defaults, ...data }, net: { outbound: true } }
}
