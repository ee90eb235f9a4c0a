import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import {
  type BanList,
  type Clock,
  type Counter,
  type Counts,
  createCounter,
  SallyportError,
  withStrikes,
} from '@sallyport/core'
import {
  createMemoryBans,
  createMemoryCounts,
  createSharedCounts,
  type Opened,
  openBans,
  openCounts,
} from '@sallyport/stores'
import { parseConfig } from './config/read.ts'
import type { Config, ConfigInput } from './config/schema.ts'
import { inDataDir } from './data-dir.ts'
import { type Rules, rulesOf } from './reload.ts'

/** Counts and bans of the rules, for as long as the service is open. */
export interface Counting {
  /** The counter of some rules; what they share with the rules before is counted on. */
  counterOf(rules: Pick<Rules, 'policy' | 'mode'>): Counter
  /** Opens what some rules need that is not open yet. */
  prepare(rules: Pick<Rules, 'policy'>): Promise<void>
  readonly bans: BanList
  close(): Promise<void>
}

export interface CountingOptions {
  readonly clock: Clock
  readonly onFault: (error: unknown) => void
}

/** Nothing is opened before a request or a rule needs it. */
export function createCounting(config: Config, { clock, onFault }: CountingOptions): Counting {
  const now = clock.now
  const counts = createCounts(config, { clock, onFault })
  let bans: Opened<BanList> = { ...createMemoryBans(now), close: async () => {} }
  let opened = false

  async function prepare({ policy }: Pick<Rules, 'policy'>): Promise<void> {
    const url = bansUrl(config)
    if (policy.strikes === undefined || opened || url === undefined) return
    bans = await openBans(url, onFault)
    opened = true
  }

  const current: BanList = {
    find: (key) => bans.find(key),
    put: (ban) => bans.put(ban),
    lift: (id) => bans.lift(id),
    list: () => bans.list(),
  }
  const { ipv6Prefix } = config.limits
  const flights = randomUUID()
  return {
    bans: current,
    prepare,
    counterOf({ policy: { strikes }, mode }) {
      const counter = createCounter({ counts, ipv6Prefix, flights })
      if (strikes === undefined) return counter
      return withStrikes(counter, { strikes, mode, counts, bans: current, ipv6Prefix, now, onFault })
    },
    async close() {
      await bans.close()
      await counts.close()
    },
  }
}

/** Counts that are opened by the first request that is counted. */
function createCounts(config: Config, { clock, onFault }: CountingOptions): Opened<Counts> {
  const url = countsUrl(config)
  if (url === undefined) return { ...createMemoryCounts(clock), close: async () => {} }
  let opening: Promise<Opened<Counts>> | undefined
  let store: Opened<Counts> | undefined

  async function openStore(): Promise<Opened<Counts>> {
    try {
      store = await openCounts(url as string)
      return store
    } finally {
      opening = undefined
    }
  }

  const lazy: Counts = {
    async take(tasks, flight) {
      opening ??= store === undefined ? openStore() : undefined
      return (store ?? (await (opening as Promise<Opened<Counts>>))).take(tasks, flight)
    },
    leave: (keys, flight) => store?.leave(keys, flight),
  }
  const { timeouts, counting } = config
  // SQLite waits for other writers, so it is slow at worst.
  const deadlineMs = config.redis === undefined ? SQLITE_DEADLINE_MS : timeouts.counting
  return {
    ...createSharedCounts(lazy, { deadlineMs, share: counting.share, onOutage: onFault }),
    async close() {
      await opening?.catch(() => {})
      await store?.close()
    },
  }
}

const SQLITE_DEADLINE_MS = 5_000

/** `undefined`: in memory. */
function countsUrl({ redis, counting: { place }, dataDir, data }: Config): string | undefined {
  if (place === 'memory') return undefined
  if (place === 'auto' && redis !== undefined) return redis
  if (data.readOnly || (place === 'auto' && !cluster.isWorker)) return undefined
  return `sqlite:${join(dataDir, 'counts.db')}`
}

/** Bans are kept where commands and other processes find them. */
export function bansUrl({ redis, counting: { place }, dataDir, data }: Config): string | undefined {
  if (place === 'memory') return undefined
  if (place === 'auto' && redis !== undefined) return redis
  return data.readOnly ? undefined : `sqlite:${join(dataDir, 'bans.db')}`
}

/** Counts of its own in memory, by another clock: for requests that were recorded or made up. */
export function createTrialCounter(options: ConfigInput, clock: Clock): Counter {
  const config = parseConfig(options)
  const memory = { ...config, counting: { ...config.counting, place: 'memory' as const } }
  const onFault = (error: unknown): never => {
    throw error
  }
  return createCounting(memory, { clock, onFault }).counterOf(rulesOf(config))
}

/** Rejects with `unknown_ban` where there is none of this id. */
export async function liftBan(bans: BanList, id: string): Promise<void> {
  if (!(await bans.lift(id))) throw new SallyportError('unknown_ban', `No ban ${id} is in force.`)
}

/** The bans of a configuration alone, for commands; running processes see what is lifted. */
export async function openBanList(config: Config, onFault: (error: unknown) => void): Promise<Opened<BanList>> {
  const url = bansUrl(config)
  if (url === undefined) return { ...createMemoryBans(), close: async () => {} }
  return inDataDir(config, () => openBans(url, onFault))
}
