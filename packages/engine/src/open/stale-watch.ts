import { type Clock, counted, HOUR_MS, isStale, type SourceStatus } from '@sallyport/core'
import type { Config } from '#config'
import { type RaiseEvent, shortList } from '#service'

/** Data that is old at the start is not reported for this time: the service downloads it first. */
const GRACE_MS = 300_000

/** Returns the milliseconds until the first check of a service's data. */
export function staleGrace({ data, net }: Pick<Config, 'data' | 'net'>): number {
  return data.refresh && net.outbound && !data.readOnly ? GRACE_MS : 0
}

/** A source is checked when it becomes too old, and all sources at least this often, because downloads move that time. */
const MAX_WAIT_MS = HOUR_MS
const MIN_WAIT_MS = 1_000

export interface StaleWatchOptions {
  readonly sources: () => readonly SourceStatus[]
  readonly clock: Clock
  readonly raise: RaiseEvent
  /** The first check comes after so many milliseconds: a start downloads old data first. */
  readonly graceMs: number
}

/** Raises `stale` when data of sources becomes too old, once for all sources that expire together. */
export function watchStale({ sources, clock, raise, graceMs }: StaleWatchOptions): { close(): void } {
  let known: ReadonlySet<string> = new Set()
  let timer = setTimeout(look, graceMs).unref()

  function look(): void {
    const now = clock.now()
    const loaded = sources().filter(({ state }) => state === 'loaded')
    const stale = loaded.filter((source) => isStale(source, now)).map(({ id }) => id)
    const news = stale.filter((id) => !known.has(id))
    if (news.length > 0) {
      const verb = stale.length === 1 ? 'is stale' : 'are stale'
      const text = `${stale.length} of ${counted(loaded.length, 'data source')} ${verb}: ${shortList(stale)}. Run sallyport data update.`
      raise({ kind: 'stale', about: '', text, details: { stale: stale.length, loaded: loaded.length } })
    } else if (stale.length === 0 && known.size > 0) {
      raise({ kind: 'stale', about: '', over: true, text: 'No data is stale any more.' })
    }
    known = new Set(stale)
    const next = loaded.flatMap(({ staleAfter }) => {
      const at = staleAfter === undefined ? Number.NaN : Date.parse(staleAfter)
      return at > now ? [at - now] : []
    })
    timer = setTimeout(look, Math.max(MIN_WAIT_MS, Math.min(MAX_WAIT_MS, ...next))).unref()
  }
  return { close: () => clearTimeout(timer) }
}
