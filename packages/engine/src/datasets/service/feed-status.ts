import {
  ageOf,
  type CrawlerRangeStatus,
  DAY_MS,
  isStale,
  lastTrue,
  PRIVATE_RELAY,
  type Snapshot,
  type SourceStatus,
} from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import { staleAfter } from '../feeds/age.ts'
import { dayNumber } from '../format/days.ts'
import { kindOf } from '../sources/list-kind.ts'
import type { ResolvedSource } from '../sources/resolve.ts'

/** A snapshot whose sources also say how fresh their feeds are. */
export function withFeedStatus(snapshot: Snapshot, sources: readonly ResolvedSource[]): Snapshot {
  const resolved = new Map(sources.map((source) => [source.row.id, source]))
  const statuses = snapshot.sources.map((status) => {
    const source = resolved.get(status.id)
    return source === undefined ? status : Object.freeze({ ...status, ...feedStatus(source, status) })
  })
  return withAges(snapshot, statuses, (id) => resolved.get(id)?.row)
}

/** The row of a source. */
type RowOf = (id: string) => SourceRow | undefined

/** A snapshot with these statuses of its sources, and with what follows from their ages. */
function withAges(snapshot: Snapshot, statuses: readonly SourceStatus[], rowOf: RowOf): Snapshot {
  const lists = statuses.flatMap(({ id, state, staleAfter: time }) => {
    const { kind, networkClass } = rowOf(id) ?? {}
    if (state !== 'loaded' || (kind !== 'ranges' && kind !== 'addresses')) return []
    return [{ networkClass, ends: time === undefined ? Number.POSITIVE_INFINITY : Date.parse(time) }]
  })
  const rangesEnd = Math.min(...lists.map(({ ends }) => ends))
  const proxiesEnd = Math.max(
    ...lists.flatMap((list) => (list.networkClass === 'residential_proxy' ? [list.ends] : [])),
  )
  const exitsTrueAt = { tor: newestOf('tor', statuses, rowOf), vpn: newestOf('vpn', statuses, rowOf) }
  const crawlerStatus = statuses.flatMap((status) => {
    const { kind, crawler: slug } = rowOf(status.id) ?? {}
    return kind === 'crawler' && slug !== undefined ? [rangeStatus(slug, status)] : []
  })
  return Object.freeze({
    ...snapshot,
    crawlerStatus: Object.freeze(crawlerStatus),
    ...(Number.isFinite(rangesEnd) ? { rangesStaleAfter: rangesEnd } : {}),
    ...(Number.isFinite(proxiesEnd) ? { proxiesStaleAfter: proxiesEnd } : {}),
    ...(exitsTrueAt.tor === undefined && exitsTrueAt.vpn === undefined ? {} : { exitsTrueAt }),
    sources: Object.freeze(statuses),
  })
}

/** When the newest list of a class was last known to be true, milliseconds since the epoch; `undefined` where none is loaded. */
function newestOf(networkClass: 'tor' | 'vpn', statuses: readonly SourceStatus[], rowOf: RowOf): number | undefined {
  const times = statuses.flatMap((status) => {
    const row = rowOf(status.id)
    const isOne = status.state === 'loaded' && row?.networkClass === networkClass && row.provider !== PRIVATE_RELAY
    return isOne ? (trueAt(row, status) ?? []) : []
  })
  return times.length === 0 ? undefined : Math.max(...times)
}

/** When a list was last known to be true. */
function trueAt(row: SourceRow, status: SourceStatus): number | undefined {
  return lastTrue(status, kindOf(row) ?? 'range')
}

function rangeStatus(slug: string, { state, date, staleAfter: time }: SourceStatus): CrawlerRangeStatus {
  if (state !== 'loaded') return { slug, state: 'missing' }
  return {
    slug,
    state: 'fresh',
    ...(date === undefined ? {} : { date }),
    ...(time === undefined ? {} : { staleAfter: Date.parse(time) }),
  }
}

/** By source id the day on which its publisher last confirmed it, in days since the epoch. */
export function confirmedDays(sources: readonly ResolvedSource[]): ReadonlyMap<string, number> {
  return new Map(
    sources.flatMap((source) => {
      const { checked } = confirmationOf(source)
      return checked === undefined ? [] : [[source.row.id, dayNumber(checked)] as const]
    }),
  )
}

/** The download in use, and when its publisher last confirmed it; a local file has no publisher. */
function confirmationOf({ file, feed }: ResolvedSource) {
  const current = file?.path.endsWith('.feed') ? feed?.current : undefined
  const isFile = feed?.url.startsWith('file:') === true
  return { current, isFile, checked: current === undefined || isFile ? undefined : feed?.checked }
}

function feedStatus(source: ResolvedSource, { state, date }: SourceStatus): Partial<SourceStatus> {
  const { row, file, feed } = source
  const { current, isFile, checked } = confirmationOf(source)
  const kind = kindOf(row)
  // Without a publisher to ask, data was last true when it says so, or when it was written: that of packages and of the user's own files.
  const isDated = current?.dated === true || feed?.seen?.id !== current?.id
  const written = isFile && !isDated ? feed?.seen?.lastModified : date
  const isChanging = kind !== undefined && ageOf(kind).changing === true
  const confirmed = isChanging ? current?.made : checked
  const trueAt = confirmed ?? (written === undefined ? undefined : Date.parse(written))
  const stale = state !== 'loaded' || trueAt === undefined ? undefined : staleAfter(row, trueAt)
  return {
    ...(checked === undefined ? {} : { checked: new Date(checked).toISOString() }),
    ...(stale === undefined ? {} : { staleAfter: new Date(stale).toISOString() }),
    ...(feed?.error === undefined ? {} : { error: feed.error }),
    ...(current === undefined ? {} : { generation: current.id }),
    ...(state === 'loaded' && (isFile || file?.own) ? { own: true } : {}),
  }
}

/** Lists whose entries change hands, so that each day without news loses some; tables and databases age in years. */
const LISTS: readonly SourceRow['kind'][] = ['ranges', 'addresses', 'crawler', 'asn-list']
const ROWS = new Map(SOURCES.filter(({ kind }) => LISTS.includes(kind)).map((row) => [row.id, row]))

/** Kinds of the tables that packages bring. */
const TABLE_KINDS: readonly SourceRow['kind'][] = ['asn', 'country']
const TABLES = new Set(SOURCES.filter(({ kind }) => TABLE_KINDS.includes(kind)).map(({ id }) => id))

export interface OldestList {
  readonly id: string
  /** Milliseconds since it was last known to be true. */
  readonly ageMs: number
}

/** The loaded list that verdicts rest on and that was confirmed longest ago; `undefined` where none is loaded. `now` is in milliseconds. */
export function oldestList(sources: readonly SourceStatus[], now: number): OldestList | undefined {
  let oldest: OldestList | undefined
  for (const status of sources) {
    const { id, state } = status
    const row = ROWS.get(id)
    const time = row && trueAt(row, status)
    if (state !== 'loaded' || time === undefined) continue
    const ageMs = now - time
    if (oldest === undefined || ageMs > oldest.ageMs) oldest = { id, ageMs }
  }
  return oldest
}

/**
 * The days since the oldest of the tables that are as they were shipped, of networks and countries: those age in months, and the
 * first download replaces them. `undefined` where none is past its age; lists that were shipped count with the others.
 */
export function shippedTablesAge(sources: readonly SourceStatus[], now: number): number | undefined {
  const dates = sources.flatMap((source) => (isShippedTable(source, now) ? Date.parse(source.date ?? '') : []))
  return dates.length === 0 ? undefined : Math.floor((now - Math.min(...dates)) / DAY_MS)
}

/** Whether a source is a table that came with the packages, is past its age, and was not asked for yet. */
export function isShippedTable(source: SourceStatus, now: number): boolean {
  const { id, state, checked, error, own, date } = source
  const isAsShipped = state === 'loaded' && checked === undefined && error === undefined && own !== true
  return isAsShipped && date !== undefined && TABLES.has(id) && isStale(source, now)
}
