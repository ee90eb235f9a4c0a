import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nearestWord, SallyportError, type SourceStatus } from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import { readFault } from '#files'
import type { Feed, FeedState } from './feed-state.ts'
import type { FeedStore } from './feed-store.ts'
import { packageFolder, shippedFolder, shippedSources } from './shipped.ts'
import type { SourceFile } from './source-file.ts'

/** Sets how one source is used (`data.sources.<id>`). */
export interface SourceOverride {
  /** An http, https or `file:` URL; it replaces the published one and switches the source on. */
  readonly url?: string | undefined
  readonly enabled?: boolean | undefined
  /** `account:secret`, for publishers that ask for one. */
  readonly key?: string | undefined
}

export type SourceOverrides = Readonly<Record<string, SourceOverride>>

/** One source and the file it is read from; `file` is absent when there is none, and `reason` then says why. */
export interface ResolvedSource {
  readonly row: SourceRow
  readonly file?: SourceFile | undefined
  readonly reason?: string | undefined
  /** Records the downloads of a feed. */
  readonly feed?: FeedState | undefined
}

/**
 * Returns every source of the table with its file: the download of a feed, else the file that the user names, else what came with the
 * release, else the file of a package. Touches the disk only to see which files exist: a missing package or file makes a source absent and
 * is never an error. Throws `invalid_config` for an id that is not in the table and for a URL that cannot be read, naming it.
 */
export function resolveSources(
  overrides: SourceOverrides = {},
  rows: readonly SourceRow[] = SOURCES,
  store?: FeedStore,
  mirror?: string,
): readonly ResolvedSource[] {
  const feeds = new Map(resolveFeeds(overrides, rows, mirror).map((feed) => [feed.row.id, feed]))
  const shipped = shippedSources(shippedFolder())
  return withoutReplaced(
    rows.map((row) => {
      const feed = feeds.get(row.id)
      const resolved = resolveSource(row, overrides[row.id] ?? {}, shipped)
      if (store === undefined || feed === undefined) return resolved
      const downloaded = store.file(row.id, feed.url)
      const state = store.read(row.id, feed.url)
      return downloaded === undefined ? { ...resolved, feed: state } : { row, file: downloaded, feed: state }
    }),
  )
}

/** Files of these kinds are read where they are; others are small enough to be copied first, so that they cannot change meanwhile. */
const LARGE: readonly SourceRow['kind'][] = ['asn', 'asn-country', 'country', 'city']

/**
 * Returns the feeds to request and their URLs; feeds with a URL of the user come first. A `file:` URL of a list is a feed like any other:
 * it is copied, checked, and kept until there is a better one. `mirror` is a URL below which each published feed is found under its id; it
 * needs no key. Throws as `resolveSources`.
 */
export function resolveFeeds(
  overrides: SourceOverrides = {},
  rows: readonly SourceRow[] = SOURCES,
  mirror?: string,
): readonly Feed[] {
  for (const id of Object.keys(overrides)) {
    if (!rows.some((row) => row.id === id)) {
      throw new SallyportError('invalid_config', `data.sources.${id}: there is no such source${findNearest(id, rows)}`)
    }
  }
  const feeds = rows.flatMap((row): readonly Feed[] => {
    const { url, enabled = isOn(row, url), key } = overrides[row.id] ?? {}
    const protocol = url === undefined ? undefined : readProtocol(row.id, url)
    const place = url ?? (row.refreshHours === undefined ? undefined : row.url)
    const isCopied = protocol !== 'file:' || !LARGE.includes(row.kind)
    const published = url === undefined
    const isMirrored = mirror !== undefined && published
    if (!enabled || place === undefined || !isCopied || (row.key && published && !isMirrored && key === undefined))
      return []
    // The publisher's key is for the publisher.
    if (isMirrored)
      return [{ row, url: place, published, mirror: `${mirror}${mirror.endsWith('/') ? '' : '/'}${row.id}` }]
    return [{ row, url: place, published, key }]
  })
  return feeds.toSorted((x, y) => Number(x.published) - Number(y.published))
}

function findNearest(id: string, rows: readonly SourceRow[]): string {
  const ids = rows.map((row) => row.id)
  const nearest = nearestWord(id, ids)
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`
}

/** A source whose URL is configured is on. */
function isOn(row: SourceRow, url: string | undefined): boolean {
  return row.enabled || url !== undefined
}

function resolveSource(
  row: SourceRow,
  { url, enabled = isOn(row, url), key }: SourceOverride,
  shipped: ReadonlyMap<string, SourceFile>,
): ResolvedSource {
  if (!enabled) return { row, reason: row.enabled ? 'disabled' : 'not enabled' }
  if (url !== undefined && readProtocol(row.id, url) === 'file:') {
    const path = fileURLToPath(url)
    const file = statFile(path)
    return file === undefined ? { row, reason: `${path} does not exist` } : { row, file: { ...file, own: true } }
  }
  const own = url === undefined ? shipped.get(row.id) : undefined
  if (own !== undefined) return { row, file: own }
  if (row.package === undefined || row.file === undefined) return { row, reason: explainAbsence(row, url, key) }
  const file = packagedFile(row)
  return file === undefined ? { row, reason: `the package ${row.package} is not installed` } : { row, file }
}

/** Returns the file of a source that an installed package brings. */
export function packagedFile(row: SourceRow): SourceFile | undefined {
  const folder = packageFolder(row.package ?? '')
  const file = folder === undefined ? undefined : statFile(join(folder, row.file ?? ''))
  return folder === undefined || file === undefined ? undefined : { ...file, ...packageVersion(folder) }
}

function explainAbsence(row: SourceRow, url: string | undefined, key: string | undefined): string {
  if (url === undefined && row.url === undefined) return 'no file is set'
  return row.key && url === undefined && key === undefined ? 'the source needs a key' : 'not downloaded yet'
}

/** Drops the sources that a city database or a file of systems for both families replaces. */
function withoutReplaced(sources: readonly ResolvedSource[]): readonly ResolvedSource[] {
  const chosen = (['asn', 'city'] as const).map((kind) =>
    sources.find(
      ({ row, file }) => row.kind === kind && row.family === undefined && !row.fallback && file !== undefined,
    ),
  )
  return sources.map((source) => {
    const { row } = source
    const instead = chosen.find((one) => one?.row.kind === row.kind)
    if (instead === undefined || instead === source || row.fallback) return source
    return { row, reason: `${instead.row.id} replaces this source` }
  })
}

function readProtocol(id: string, url: string): 'file:' | 'http:' | 'https:' {
  const { protocol, host } = URL.canParse(url) ? new URL(url) : { protocol: '', host: '' }
  if (protocol === 'http:' || protocol === 'https:' || (protocol === 'file:' && host === '')) return protocol
  // Not the URL itself: it may hold a key.
  throw new SallyportError('invalid_config', `data.sources.${id}.url: must be a file:, https: or http: URL`)
}

function statFile(path: string): SourceFile | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() && readFault(path) === undefined
    ? { path, size: stats.size, modified: Math.trunc(stats.mtimeMs / 1_000) * 1_000 }
    : undefined
}

/** Reads the version of a package, and the day that it names, as in 2.3.2026061719. */
function packageVersion(folder: string): Pick<SourceFile, 'origin' | 'made'> {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const [, year, month, day] = /\.(20\d\d)(0[1-9]|1[0-2])(\d\d)\d\d$/.exec(version) ?? []
  return { origin: version, ...(year === undefined ? {} : { made: Date.parse(`${year}-${month}-${day}`) }) }
}

/** Returns the status row of a source. */
export function sourceStatus(
  row: SourceRow,
  state: SourceStatus['state'],
  more: Pick<SourceStatus, 'date' | 'entries' | 'sha256' | 'reason' | 'left'> = {},
): SourceStatus {
  return { id: row.id, title: row.title, state, ...more, licence: row.licence, credit: row.credit }
}
