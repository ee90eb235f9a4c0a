import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  BAN_CHALLENGE,
  type BanList,
  type Clock,
  type CompiledPolicy,
  type Counter,
  type Counts,
  createCounter,
  parseAddress,
  type parseTrust,
  SallyportError,
  type StrikesOptions,
  withStrikes,
} from '@sallyport/core'
import type { Settings } from '#settings'
import {
  createMemoryBans,
  createMemoryCounts,
  createSharedCounts,
  type Opened,
  openBansAt,
  openCounts,
} from '#stores/service'
import { inDataDir } from './data-dir.ts'
import { lacksSecret } from './required-secret.ts'

interface CountedRules {
  readonly policy: Pick<CompiledPolicy, 'strikes'>
  readonly mode: Settings['mode']
  readonly trust: ReturnType<typeof parseTrust>
}

export interface CountingOptions {
  readonly clock: Clock
  readonly onFault: (error: unknown) => void
  /** A client was banned. */
  readonly onBanned?: StrikesOptions['onBanned'] | undefined
}

/** Nothing is opened before it is prepared, or a request needs it. */
export function createCounting(config: Settings, options: CountingOptions) {
  const { onFault, onBanned } = options
  const { now } = options.clock
  const [url, callsUrl] = [countsUrl(config), callCountsUrl(config)]
  const counts = createCounts(url, config, options)
  const calls = callsUrl === url ? counts : createCounts(callsUrl, config, options)
  let bans: Opened<BanList> = { ...createMemoryBans(now), close: async () => {} }
  let opened = false

  async function prepare({ policy }: Pick<CountedRules, 'policy'>): Promise<void> {
    await removeOldLimits(config).catch(onFault)
    await calls.open()
    const url = bansUrl(config)
    if (policy.strikes.length === 0 || opened || url === undefined) return
    bans = await openBansAt(url, onFault)
    opened = true
  }

  const current: BanList = {
    find: (key) => bans.find(key),
    put: (ban) => bans.put(ban),
    lift: (id) => bans.lift(id),
    liftedAt: (id) => bans.liftedAt(id),
    list: () => bans.list(),
  }
  const flights = randomUUID()
  const led = lacksSecret(config) ? undefined : BAN_CHALLENGE
  return {
    bans: current,
    /** Counts of callers of `/v1`: they outlive a restart, also where rules count in memory. */
    calls,
    /** Opens what some rules, and `/v1`, need that is not open yet. A store that is away is reported and is no error. */
    prepare,
    /** The counter of some rules; what they share with the rules before is counted on. */
    makeCounter({ policy: { strikes }, mode, trust }: CountedRules): Counter {
      const counter = createCounter({ counts, flights })
      if (strikes.length === 0) return counter
      const isTrusted = (text: string): boolean => {
        const address = parseAddress(text)
        return address !== undefined && trust.proxies.has(address)
      }
      const parts = { counts, bans: current, now, isTrusted, led, onFault, onBanned }
      return withStrikes(counter, { strikes, mode, ...parts })
    },
    async close(): Promise<void> {
      await bans.close()
      for (const store of new Set([counts, calls])) await store.close()
    },
  }
}

/** Counts that are opened by `open`, or by the first request that is counted. */
interface LazyCounts extends Opened<Counts> {
  /** Rejects with `package_missing`; reports any other fault, and every use tries again. */
  open(): Promise<void>
}

function createCounts(url: string | undefined, config: Settings, { clock, onFault }: CountingOptions): LazyCounts {
  if (url === undefined) return { ...createMemoryCounts(clock), open: async () => {}, close: async () => {} }
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

  async function opened(): Promise<Opened<Counts>> {
    if (store !== undefined) return store
    opening ??= openStore()
    return opening
  }

  const lazy: Counts = {
    take: async (tasks, flight) => (store ?? (await opened())).take(tasks, flight),
    leave: (keys, flight, unused) => store?.leave(keys, flight, unused),
  }
  // SQLite waits for other writers, so it is slow at worst.
  const deadlineMs = url.startsWith('sqlite:') ? SQLITE_DEADLINE_MS : config.timeouts.counting
  return {
    ...createSharedCounts(lazy, { deadlineMs, share: OUTAGE_SHARE, onOutage: onFault }),
    async open() {
      await opened().catch((error: unknown) => {
        if (error instanceof SallyportError) throw error
        onFault(error)
      })
    },
    async close() {
      await opening?.catch(() => {})
      await store?.close()
    },
  }
}

const SQLITE_DEADLINE_MS = 5_000

/** While Redis does not answer, this process lets this share of every limit through. */
const OUTAGE_SHARE = 0.5

/** Place of the rules' counts; `undefined`: in memory. */
function countsUrl(config: Settings): string | undefined {
  const { redis, counting } = config
  if (counting.place === 'memory') return undefined
  if (counting.place === 'auto') return redis ?? (cluster.isWorker ? countsFile(config) : undefined)
  return countsFile(config)
}

/** Place of the counts of `/v1`; `undefined`: in memory. */
export function callCountsUrl(config: Settings): string | undefined {
  return config.redis ?? countsFile(config)
}

function countsFile({ dataDir, data }: Settings): string | undefined {
  return data.readOnly ? undefined : `sqlite:${join(dataDir, 'counts.db')}`
}

/** Earlier versions kept the addresses of clients in a file of limits, which nothing reads any more. */
async function removeOldLimits({ dataDir, data }: Settings): Promise<void> {
  if (data.readOnly) return
  for (const end of ['', '-wal', '-shm']) await rm(join(dataDir, `limits.db${end}`), { force: true })
}

/** Bans are kept where commands and other processes find them. */
export function bansUrl({ redis, counting: { place }, dataDir, data }: Settings): string | undefined {
  if (place === 'memory') return undefined
  if (place === 'auto' && redis !== undefined) return redis
  return data.readOnly ? undefined : `sqlite:${join(dataDir, 'bans.db')}`
}

/** Rejects with `unknown_ban` where there is none of this id. */
export async function liftBan(bans: BanList, id: string): Promise<void> {
  if (!(await bans.lift(id))) throw new SallyportError('unknown_ban', `No ban ${id} is in force.`)
}

/** The bans of a configuration alone, for commands; running processes see what is lifted. */
export async function openBanList(config: Settings, onFault: (error: unknown) => void): Promise<Opened<BanList>> {
  const url = bansUrl(config)
  if (url === undefined) return { ...createMemoryBans(), close: async () => {} }
  return inDataDir(config, () => openBansAt(url, onFault))
}
