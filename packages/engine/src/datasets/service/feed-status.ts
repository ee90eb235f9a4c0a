import {
  type CrawlerRangeStatus,
  DAY_MS,
  isStale,
  listAge,
  PRIVATE_RELAY,
  type RestsOn,
  type Snapshot,
  type SourceStatus,
} from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import { lostAfter, staleAfter } from '../feeds/age.ts'
import { listKind } from '../sources/list-kind.ts'
import type { ResolvedSource } from '../sources/resolve.ts'
import { derivedFacts } from './facts.ts'

type RowFinder = (id: string) => SourceRow | undefined

/** Returns the snapshot with sources that also say how fresh their feeds are, and with what follows from their ages. */
export function withFeedStatus(snapshot: Snapshot, resolved: readonly ResolvedSource[]): Snapshot {
  const known = new Map(resolved.map((source) => [source.row.id, source]))
  const findRow = (id: string) => known.get(id)?.row
  const own = snapshot.sources.map((status) => {
    const source = known.get(status.id)
    return source === undefined ? status : Object.freeze({ ...status, ...feedStatus(source, status) })
  })
  const sources = [...own, ...derivedFacts(own, findRow)]
  const crawlerStatus = sources.flatMap((status) => {
    const { kind, crawler: slug } = findRow(status.id) ?? {}
    return kind === 'crawler' && slug !== undefined ? [rangeStatus(slug, status)] : []
  })
  return Object.freeze({
    ...snapshot,
    crawlerStatus: Object.freeze(crawlerStatus),
    restsOn: Object.freeze(findRestsOn(sources, findRow)),
    sources: Object.freeze(sources),
  })
}

function findRestsOn(statuses: readonly SourceStatus[], findRow: RowFinder): RestsOn {
  const oldestFirst = statuses
    .filter(({ state, lastTrue }) => state === 'loaded' && lastTrue !== undefined)
    .toSorted((one, other) => Date.parse(one.lastTrue ?? '') - Date.parse(other.lastTrue ?? ''))
  const newest = (networkClass: SourceRow['networkClass']) =>
    oldestFirst.findLast(({ id }) => {
      const row = findRow(id)
      return row?.networkClass === networkClass && row?.provider !== PRIVATE_RELAY
    })
  const systems = oldestFirst.filter(({ id }) => findRow(id)?.kind === 'asn')
  return {
    tor: newest('tor'),
    vpn: newest('vpn'),
    proxies: newest('residential_proxy'),
    systems: systems.find(({ id }) => !findRow(id)?.fallback) ?? systems[0],
  }
}

function rangeStatus(slug: string, status: SourceStatus): CrawlerRangeStatus {
  const { state, date, staleAfter: time } = status
  if (state !== 'loaded') return { slug, state: 'missing' }
  return {
    slug,
    state: 'fresh',
    source: status,
    ...(date === undefined ? {} : { date }),
    ...(time === undefined ? {} : { staleAfter: Date.parse(time) }),
  }
}

/**
 * Reads the download in use, when its publisher was last asked (a local file has none), and when the download was last true. For a list
 * that is made again all the time this is the day of its content, because a publisher who has given the list up answers too.
 */
function readConfirmation({ row, file, feed }: ResolvedSource) {
  const current = file?.path.endsWith('.feed') ? feed?.current : undefined
  const isFile = feed?.url.startsWith('file:') === true
  const checked = current === undefined || isFile ? undefined : feed?.checked
  const isChanging = row.changing ?? listAge(listKind(row)).changing
  return { current, isFile, checked, confirmed: isChanging ? current?.made : checked }
}

function feedStatus(source: ResolvedSource, { state, date }: SourceStatus): Partial<SourceStatus> {
  const { row, file, feed } = source
  const { current, isFile, checked, confirmed } = readConfirmation(source)
  const ages = listKind(row)
  // Data of packages and of the user's own files has no publisher to ask: it was last true when it says so, or when it was written.
  const isDated = current?.dated === true || feed?.seen?.id !== current?.id
  const written = isFile && !isDated ? feed?.seen?.lastModified : date
  const trueAt = confirmed ?? (written === undefined ? undefined : Date.parse(written))
  const lost = feed && lostAfter(row, feed)
  const stale = state !== 'loaded' || trueAt === undefined ? undefined : staleAfter(row, trueAt)
  return {
    ages,
    ...(trueAt === undefined ? {} : { lastTrue: new Date(trueAt).toISOString() }),
    ...(checked === undefined ? {} : { checked: new Date(checked).toISOString() }),
    ...(stale === undefined ? {} : { staleAfter: new Date(stale).toISOString() }),
    ...(feed?.error === undefined ? {} : { error: feed.error }),
    ...(lost === undefined || isFile ? {} : { lostAfter: new Date(lost).toISOString() }),
    ...(current === undefined ? {} : { generation: current.id }),
    ...(state === 'loaded' && (isFile || file?.own) ? { own: true } : {}),
  }
}

/** Lists whose entries change hands, so that each day without news loses some; tables and databases age in years. */
const LISTED = findIds('ranges', 'addresses', 'crawler', 'asn-list')

/** Tables that packages bring. */
const TABLES = findIds('asn', 'country')

function findIds(...kinds: readonly SourceRow['kind'][]): ReadonlySet<string> {
  return new Set(SOURCES.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id))
}

export interface OldestList {
  readonly id: string
  /** Milliseconds since the list was last known to be true. */
  readonly ageMs: number
}

/** Finds the loaded list that verdicts rest on and that was confirmed longest ago, if any. `now` is in milliseconds. */
export function oldestList(sources: readonly SourceStatus[], now: number): OldestList | undefined {
  let oldest: OldestList | undefined
  for (const status of sources) {
    const { id, state, lastTrue } = status
    if (state !== 'loaded' || lastTrue === undefined || !LISTED.has(id)) continue
    const ageMs = now - Date.parse(lastTrue)
    if (oldest === undefined || ageMs > oldest.ageMs) oldest = { id, ageMs }
  }
  return oldest
}

/**
 * Returns the days since the oldest table of networks or countries that is still as shipped: such tables age in months, and the first
 * download replaces them. Returns `undefined` when none is past its age; shipped lists count with the other lists.
 */
export function shippedTablesAge(sources: readonly SourceStatus[], now: number): number | undefined {
  const dates = sources.flatMap((source) => (isShippedTable(source, now) ? Date.parse(source.date ?? '') : []))
  return dates.length === 0 ? undefined : Math.floor((now - Math.min(...dates)) / DAY_MS)
}

/** Reports whether a source is a table that came with the packages, is past its age, and was not requested yet. */
export function isShippedTable(source: SourceStatus, now: number): boolean {
  const { id, state, checked, error, own, date } = source
  const isAsShipped = state === 'loaded' && checked === undefined && error === undefined && own !== true
  return isAsShipped && date !== undefined && TABLES.has(id) && isStale(source, now)
}
