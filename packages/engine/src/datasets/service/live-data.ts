import { createFindings, type RegionTable, SallyportError } from '@sallyport/core'
import { tablesPath } from '../compile/compiled-path.ts'
import type { ResolvedSource } from '../sources/resolve.ts'
import type { CityFile } from './city-file.ts'
import type { LiveDataPorts } from './data-ports.ts'
import { withFeedStatus } from './feed-status.ts'
import { type DataConfig, type Feeds, type Outcomes, openFeeds } from './feeds.ts'
import { openLiveSnapshots } from './live-snapshots.ts'
import { createMailDomains } from './mail-domains.ts'
import { startRefresh } from './refresh.ts'
import { openSnapshot } from './snapshot.ts'
import { staleNotice } from './stale-notice.ts'

export type LiveData = Awaited<ReturnType<typeof openLiveData>>

/**
 * Opens the data of a running service: loads it, reloads it when its files change and, where configured, refreshes it. This process compiles
 * the data, or the process that may write it.
 */
export async function openLiveData(config: DataConfig, ports: LiveDataPorts) {
  const { clock, hooks, notice, onFault } = ports
  const { readOnly, refresh } = config.data
  const feeds = openFeeds(config, ports)
  const describeRefusals = createRefusals()
  const onRound = (outcomes: Outcomes) => {
    for (const { source, state } of outcomes) hooks.metrics?.onOutcome?.(source, state)
    const message = describeRefusals(outcomes)
    if (message !== undefined) notice('SALLYPORT_FEED_REFUSED', message)
  }
  if (!readOnly) onRound(await feeds.takeFiles())
  const closing = new AbortController()
  const { snapshots, settle, ...regions } = await openSnapshots(config, ports, feeds, closing.signal)
  const { sources, geo } = snapshots.current()
  const stale = staleNotice(config, sources, { cities: geo !== undefined && geo.families.length > 0, now: clock.now() })
  if (stale !== undefined) notice('SALLYPORT_DATA_STALE', stale)
  const refreshing = startRefresh({
    feeds,
    snapshots,
    clock,
    download: refresh && !readOnly,
    outbound: config.net.outbound,
    onRound,
    onOffline: (reason) =>
      notice('SALLYPORT_OFFLINE', `No data could be refreshed (${reason}); the loaded data stays in use.`),
    // A process that may not write sees a download before its compiled file: it looks again, and its sources age meanwhile.
    onFault: (error) => {
      const isAwaited = readOnly && error instanceof SallyportError && error.code === 'missing_data'
      if (!isAwaited) onFault(error)
    },
    random: Math.random,
    signal: closing.signal,
  })
  const bootstrap = feeds.all.find(({ row }) => row.kind === 'rdap')
  return {
    snapshots,
    ...regions,
    /** Returns the path of the compiled tables in use. */
    tablesFile: (): string => tablesPath(config.dataDir, feeds.resolve()),
    /** Returns the path of the RDAP bootstrap file that was last downloaded. */
    bootstrapFile: (): string | undefined => (bootstrap === undefined ? undefined : feeds.file(bootstrap)?.path),
    /** Lists the domains that give throwaway mail; `undefined` when no list is loaded. */
    throwawayMail: createMailDomains(snapshots, feeds.resolve),
    async close(): Promise<void> {
      closing.abort()
      await refreshing
      await settle()
    },
  }
}

/** Opens the snapshots of a dataDir. Places take a hundred megabytes, and most policies ask for countries alone: they wait until asked for. */
async function openSnapshots(config: DataConfig, ports: LiveDataPorts, feeds: Feeds, signal: AbortSignal) {
  const { clock, lock, observations, hooks, notice, onFault } = ports
  const cityFiles = new Map<string, CityFile>()
  let wanted: Promise<void> | undefined
  let regions: RegionTable = NO_REGIONS
  /** A city file that cannot be read was reported: its regions stay unknown. */
  const openPlaces = () => Promise.all([...cityFiles.values()].map((file) => file.places().catch(() => undefined)))
  const load = async (sources: readonly ResolvedSource[]) => {
    const loaded = await openSnapshot(config.dataDir, sources, {
      lock,
      onProgress: hooks.onProgress,
      onWait: hooks.onWait,
      readOnly: config.data.readOnly,
      cityFiles,
      signal,
      onRefused: (message) => notice('SALLYPORT_TABLES_REFUSED', `${message}; the data is compiled again.`),
      onLost: (message) => notice('SALLYPORT_TABLES_REFUSED', `${message}; responses have no locations and say so.`),
    })
    return Object.freeze({ ...loaded, observations, clock })
  }
  const snapshots = await openLiveSnapshots({
    revision: feeds.revision,
    read() {
      const sources = feeds.resolve()
      return {
        // These parts change the compiled snapshot; the rest of a source is status.
        files: JSON.stringify(sources.map(({ row, file, reason }) => [row.id, file ?? reason])),
        load: () => load(sources),
        withStatus(loaded) {
          // Findings are dropped: a list that was confirmed is younger than it was.
          const { regions: all, ...others } = { ...loaded, findings: createFindings(clock) }
          regions = all ?? NO_REGIONS
          return withFeedStatus(wanted ? { ...others, regions } : others, sources)
        },
      }
    },
    prepare: async () => {
      if (wanted) await openPlaces()
    },
    onSwap: hooks.metrics?.onSwap,
  })
  return {
    snapshots,
    /** Opens the places of city files, for rules about regions; this snapshot and all after it have them. Never rejects. */
    openRegions(): Promise<void> {
      wanted ??= snapshots.reload().catch(onFault)
      return wanted
    },
    /** Opens the regions for one question; snapshots do not get them. */
    async readRegions(): Promise<RegionTable> {
      await openPlaces()
      return regions
    },
    /** Resolves when no city file is being opened. */
    settle: () => Promise.all([...cityFiles.values()].map((file) => file.settled())),
  }
}

/** Without data every region is unknown, and the inspection says so. */
const NO_REGIONS: RegionTable = Object.freeze({ find: () => undefined })

/** Returns one message a round about refused sources, and none for a refusal that was reported before. */
function createRefusals() {
  const reported = new Map<string, string>()
  return (outcomes: Outcomes): string | undefined => {
    const fresh: string[] = []
    for (const outcome of outcomes) {
      if (outcome.state !== 'refused') {
        reported.delete(outcome.source)
      } else if (reported.get(outcome.source) !== outcome.reason) {
        reported.set(outcome.source, outcome.reason)
        fresh.push(`${outcome.source} was rejected: ${outcome.reason}`)
      }
    }
    if (fresh.length === 0) return undefined
    const more = fresh.length === 1 ? '' : `, and ${fresh.length - 1} more`
    return `${fresh[0]}${more}. The loaded data stays in use.`
  }
}
