import { type Clock, createFindings, type Fetch, type Observations } from '@sallyport/core'
import type { CityTable } from '@sallyport/datasets'
import type { Config } from '../config/schema.ts'
import { type Outcomes, openFeeds } from './feeds.ts'
import { type LiveSnapshots, openLiveSnapshots } from './live-snapshots.ts'
import { type FeedMetrics, startRefresh } from './refresh.ts'
import { openSnapshot, type SnapshotHooks } from './snapshot.ts'
import { staleNotice } from './stale-notice.ts'

/** Hooks of a host on the data. */
export interface DataHooks extends Omit<SnapshotHooks, 'onRefused' | 'signal' | 'readOnly' | 'cityFiles'> {
  /** Counts of what happens to feeds. */
  readonly metrics?: FeedMetrics
}

export type DataNotice =
  | 'SALLYPORT_DATA_STALE'
  | 'SALLYPORT_TABLES_REFUSED'
  | 'SALLYPORT_FEED_REFUSED'
  | 'SALLYPORT_OFFLINE'

export interface LiveDataPorts {
  readonly clock: Clock
  readonly outbound: Fetch
  /** Asked before every snapshot. */
  readonly observations: Observations
  readonly hooks: DataHooks
  readonly notice: (code: DataNotice, message: string) => void
  readonly onFault: (error: unknown) => void
}

/** The data of a running service: loaded, reloaded when its files change and, where configured, refreshed. */
export interface LiveData {
  readonly snapshots: LiveSnapshots
  /** Path of the RDAP bootstrap file that was last downloaded. */
  readonly bootstrapFile: () => string | undefined
  close(): Promise<void>
}

export async function openLiveData(config: Config, ports: LiveDataPorts): Promise<LiveData> {
  const { clock, outbound, observations, hooks, notice, onFault } = ports
  const { metrics = {} } = hooks
  const feeds = openFeeds(config, { clock, outbound })
  const refusals = createRefusals()
  const onRound = (outcomes: Outcomes) => {
    for (const { source, state } of outcomes) metrics.onOutcome?.(source, state)
    const message = refusals.news(outcomes)
    if (message !== undefined) notice('SALLYPORT_FEED_REFUSED', message)
  }
  const { readOnly } = config.data
  if (!readOnly) onRound(await feeds.takeFiles())
  const { onSwap } = metrics
  const closing = new AbortController()
  const cityFiles = new Map<string, CityTable>()
  const snapshots = await openLiveSnapshots({
    feeds,
    load: async (sources, confirmed) => {
      const loaded = await openSnapshot(config.dataDir, sources, {
        ...hooks,
        readOnly,
        confirmed,
        cityFiles,
        signal: closing.signal,
        onRefused: (message) => notice('SALLYPORT_TABLES_REFUSED', `${message}; the data is compiled again.`),
      })
      return Object.freeze({ ...loaded, observations, clock, findings: createFindings(clock) })
    },
    ...(onSwap === undefined ? {} : { onSwap }),
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
    bootstrapFile: () => (bootstrap === undefined ? undefined : feeds.file(bootstrap)?.path),
    async close() {
      closing.abort()
      await refreshing
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
