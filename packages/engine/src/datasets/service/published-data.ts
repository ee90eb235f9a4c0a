import { rmSync } from 'node:fs'
import { createFindings, SallyportError, type Snapshot, type SourceStatus } from '@sallyport/core'
import { dayOf } from '../format/days.ts'
import { neededFiles, rowOf } from '../published/manifest.ts'
import { stampOf } from '../sources/replace-file.ts'
import type { CityFile } from './city-file.ts'
import type { LiveData, LiveDataPorts } from './data-ports.ts'
import { withAges } from './feed-status.ts'
import type { DataConfig } from './feeds.ts'
import { openLiveSnapshots, type SnapshotInput } from './live-snapshots.ts'
import { openPublished, PUBLISHED, type Published, type PublishedOutcome } from './published.ts'
import { downloadsOf, NO_SNAPSHOT, openPublishedSnapshot, publishedDays } from './published-snapshot.ts'
import { WATCH_MS } from './refresh.ts'
import { repeat } from './repeat.ts'

/** How often it is looked whether the publisher is to be asked. */
const LOOK_MS = 5_000

/**
 * The data of a publisher: its copy in the dataDir, and what is newer, as it is published. Nothing is compiled, and nobody
 * else is asked for data. Where there is no copy yet, it resolves once the publisher was asked.
 */
export async function openPublishedData(config: DataConfig, ports: LiveDataPorts): Promise<LiveData> {
  const { hooks, notice, onFault } = ports
  const published = openPublished(config, ports)
  const closing = new AbortController()
  const { signal } = closing
  const report = createReport(published, ports)
  const { refresh, readOnly } = config.data
  const isAsked = refresh && !readOnly && config.net.outbound
  const wasWhole = published.isWhole()
  if (isAsked && !wasWhole) report(await published.pull({ signal }))
  else if (published.held() === undefined) {
    notice(
      'SALLYPORT_OFFLINE',
      `Nothing of ${published.host} is in ${config.dataDir}: sallyport data update fetches it.`,
    )
  }
  const cityFiles = new Map<string, CityFile>()
  const snapshots = await openLiveSnapshots({
    revision: published.revision,
    read: createReader(config, published, { ...ports, cityFiles, signal }),
    onSwap: hooks.metrics?.onSwap,
  })
  // A file that turned out to be damaged is fetched again before anybody is answered.
  if (isAsked && wasWhole && !published.isWhole()) {
    report(await published.pull({ signal }))
    await snapshots.reload()
  }
  const jitter = Math.random()
  const random = Math.random
  const look = async () => {
    const outcome = await published.pullIfDue(jitter, { signal })
    if (outcome === undefined || signal.aborted) return
    report(outcome)
    await snapshots.reload()
  }
  const loops = Promise.all([
    repeat(snapshots.reloadIfChanged, { first: WATCH_MS, pause: WATCH_MS, random, onFault, signal }),
    ...(isAsked ? [repeat(look, { first: LOOK_MS * random(), pause: LOOK_MS, random, onFault, signal })] : []),
  ])
  return {
    snapshots,
    tablesFile() {
      const tables = published.held()?.manifest.files.find(({ name }) => name === 'tables')
      if (tables === undefined) throw new SallyportError('missing_data', `nothing of ${published.host} is here`)
      return published.folder.pathOf(tables)
    },
    bootstrapFile() {
      const files = neededFiles(published.held()?.manifest ?? { files: [] }, false)
      return downloadsOf(published, files).find(({ row }) => row.kind === 'rdap')?.file?.path
    },
    async close() {
      closing.abort()
      await loops
      await Promise.all([...cityFiles.values()].map((file) => file.settled()))
    },
  }
}

interface ReaderPorts extends LiveDataPorts {
  readonly cityFiles: Map<string, CityFile>
  readonly signal: AbortSignal
}

/** Reads what is in the dataDir. A file that cannot be loaded is removed, so that it is fetched again, and what is in use stays. */
function createReader(config: DataConfig, published: Published, ports: ReaderPorts): () => SnapshotInput {
  const { folder } = published
  const { city, readOnly } = config.data
  const { clock, observations, notice, cityFiles, signal } = ports
  const live = (snapshot: Snapshot): Snapshot =>
    Object.freeze({ ...snapshot, observations, clock, findings: createFindings(clock) })
  const lose = (message: string) => notice('SALLYPORT_TABLES_REFUSED', `${message}; it is fetched again.`)
  let inUse = live(NO_SNAPSHOT)
  return () => {
    const held = published.held()
    const files = held === undefined ? [] : neededFiles(held.manifest, city)
    return {
      files: JSON.stringify(files.map((file) => [file.name, file.sha256, stampOf(folder.pathOf(file))])),
      confirmedDays: held === undefined ? new Map() : publishedDays(held.manifest),
      async load(confirmed) {
        if (held === undefined) return inUse
        const onLost = (path: string, message: string) => {
          if (!readOnly) rmSync(path, { force: true })
          lose(message)
        }
        try {
          const options = { confirmed, cityFiles, onLost, signal }
          inUse = live(openPublishedSnapshot({ manifest: held.manifest, folder, city }, options))
        } catch (error) {
          if (!(error instanceof SallyportError)) throw error
          const damaged = files.find((file) => error.message.startsWith(folder.pathOf(file)))
          if (damaged !== undefined && !readOnly) rmSync(folder.pathOf(damaged), { force: true })
          // A file that is missing is being fetched.
          if (error.code === 'corrupt_data') lose(error.message)
        }
        return inUse
      },
      withStatus: (loaded) => withAges(loaded, [...loaded.sources, statusOf(published)], rowOf),
    }
  }
}

/** The publisher as a source, since the age of a bundle is that of all in it (D579). */
function statusOf(published: Published): SourceStatus {
  const { host } = published
  const { manifest, digest } = published.held() ?? {}
  const { checked, error } = published.state()
  const known = { id: PUBLISHED, title: `Data that ${host} publishes`, licence: 'as of each source', credit: '' }
  if (manifest === undefined || digest === undefined) {
    return Object.freeze({ ...known, state: 'absent', reason: error ?? 'not fetched yet' } as const)
  }
  return Object.freeze({
    ...known,
    state: 'loaded',
    date: dayOf(Date.parse(manifest.created)),
    sha256: digest,
    generation: String(manifest.version),
    staleAfter: manifest.expires,
    ...(checked === undefined ? {} : { checked: new Date(checked).toISOString() }),
    ...(error === undefined ? {} : { error }),
  } as const)
}

/** Says once why a publisher cannot be followed, and that it can be again, whichever process of the dataDir asked. */
function createReport({ host }: Published, { hooks, notice, onRefusedBundle }: LiveDataPorts) {
  return ({ pulled, before }: PublishedOutcome): void => {
    hooks.metrics?.onOutcome?.(PUBLISHED, pulled.state)
    if (pulled.state === 'updated' || pulled.state === 'unchanged') {
      if (before.refused) onRefusedBundle?.(undefined)
      return
    }
    const { reason } = pulled
    if (before.error === reason) return
    if (pulled.state === 'refused') {
      const text = `The data of ${host} is refused: ${reason}. The data before it stays in use.`
      notice('SALLYPORT_FEED_REFUSED', text)
      onRefusedBundle?.(text)
    } else if (before.error === undefined) {
      notice('SALLYPORT_OFFLINE', `${host} could not be asked for data (${reason}); the loaded data stays in use.`)
    }
  }
}
