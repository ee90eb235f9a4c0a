import { createFindings, type Observations } from '@sallyport/core'
import { tablesPath } from '../compile/compiled-path.ts'
import type { OnProgress } from '../compile/tables.ts'
import type { CityFile } from './city-file.ts'
import { type DataConfig, type FeedPorts, type Outcomes, openFeeds } from './feeds.ts'
import { type LiveSnapshots, openLiveSnapshots } from './live-snapshots.ts'
import { type FeedMetrics, startRefresh } from './refresh.ts'
import { openSnapshot } from './snapshot.ts'
import { staleNotice } from './stale-notice.ts'

/** Hooks of a host on the data. */
export interface DataHooks {
  /** While data is compiled: the source being read, bytes done and bytes in all. */
  readonly onProgress?: OnProgress | undefined
  /** This process waits for another one that compiles the same data. */
  readonly onWait?: (() => void) | undefined
  /** Counts of what happens to feeds. */
  readonly metrics?: FeedMetrics | undefined
}

export type DataNotice =
  | 'SALLYPORT_DATA_STALE'
  | 'SALLYPORT_TABLES_REFUSED'
  | 'SALLYPORT_FEED_REFUSED'
  | 'SALLYPORT_OFFLINE'

export interface LiveDataPorts extends FeedPorts {
  /** Asked before every snapshot. */
  readonly observations: Observations
  readonly hooks: DataHooks
  readonly notice: (code: DataNotice, message: string) => void
  readonly onFault: (error: unknown) => void
}

/** The data of a running service: loaded, reloaded when its files change and, where configured, refreshed. */
export interface LiveData {
  readonly snapshots: LiveSnapshots
  /** Path of the compiled tables in use. */
  readonly tablesFile: () => string
  /** Path of the RDAP bootstrap file that was last downloaded. */
  readonly bootstrapFile: () => string | undefined
  close(): Promise<void>
}

export async function openLiveData(config: DataConfig, ports: LiveDataPorts): Promise<LiveData> {
  const { clock, lock, observations, hooks, notice, onFault } = ports
  const { metrics = {}, onProgress, onWait } = hooks
  const feeds = openFeeds(config, ports)
  const refusals = createRefusals()
  const onRound = (outcomes: Outcomes) => {
    for (const { source, state } of outcomes) metrics.onOutcome?.(source, state)
    const message = refusals.news(outcomes)
    if (message !== undefined) notice('SALLYPORT_FEED_REFUSED', message)
  }
  const { readOnly } = config.data
  if (!readOnly) onRound(await feeds.takeFiles())
  const closing = new AbortController()
  const cityFiles = new Map<string, CityFile>()
  const snapshots = await openLiveSnapshots({
    feeds,
    load: async (sources, confirmed) => {
      const loaded = await openSnapshot(config.dataDir, sources, {
        lock,
        onProgress,
        onWait,
        readOnly,
        confirmed,
        cityFiles,
        signal: closing.signal,
        onRefused: (message) => notice('SALLYPORT_TABLES_REFUSED', `${message}; the data is compiled again.`),
        onLost: (message) => notice('SALLYPORT_TABLES_REFUSED', `${message}; answers lack places and say so.`),
      })
      return Object.freeze({ ...loaded, observations, clock, findings: createFindings(clock) })
    },
    onSwap: metrics.onSwap,
  })
  const { sources, geo } = snapshots.current()
  const stale = staleNotice(config, sources, { cities: geo !== undefined, now: clock.now() })
  if (stale !== undefined) notice('SALLYPORT_DATA_STALE', stale)
  const refreshing = startRefresh({
    feeds,
    snapshots,
    clock,
    download: config.data.refresh && !readOnly,
    outbound: config.net.outbound,
    onRound,
    onOffline: (reason) =>
      notice('SALLYPORT_OFFLINE', `No data could be refreshed (${reason}); what is there stays in use.`),
    onFault,
    random: Math.random,
    signal: closing.signal,
  })
  const bootstrap = feeds.all.find(({ row }) => row.kind === 'rdap')
  return {
    snapshots,
    tablesFile: () => tablesPath(config.dataDir, feeds.resolve()),
    bootstrapFile: () => (bootstrap === undefined ? undefined : feeds.file(bootstrap)?.path),
    async close() {
      closing.abort()
      await refreshing
      await Promise.all([...cityFiles.values()].map((file) => file.settled()))
    },
  }
}

/** Notices about refused sources: one message a round, and none for a refusal that was reported before. */
function createRefusals() {
  const reported = new Map<string, string>()
  return {
    news(outcomes: Outcomes): string | undefined {
      const fresh: string[] = []
      for (const outcome of outcomes) {
        if (outcome.state !== 'refused') {
          reported.delete(outcome.source)
        } else if (reported.get(outcome.source) !== outcome.reason) {
          reported.set(outcome.source, outcome.reason)
          fresh.push(`${outcome.source} is refused: ${outcome.reason}`)
        }
      }
      if (fresh.length === 0) return undefined
      const more = fresh.length === 1 ? '' : `, and ${fresh.length - 1} more`
      return `${fresh[0]}${more}. What was loaded stays in use.`
    },
  }
}
