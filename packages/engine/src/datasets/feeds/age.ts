import { DAY_MS, HOUR_MS, listAge } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import type { FeedState } from '../sources/feed-state.ts'
import { listKind } from '../sources/list-kind.ts'

/** A feed that cannot be read is lost after so many refresh intervals, and never before a day. */
const LOST_INTERVALS = 3

/** Waits so long after the first failure; each further failure doubles the wait, up to the refresh interval. */
const FIRST_RETRY_MS = 5 * 60_000

/** Returns when data that was confirmed at `checked` becomes stale; `undefined` for a source that is never refreshed. */
export function staleAfter(row: SourceRow, checked: number): number | undefined {
  return row.refreshHours === undefined ? undefined : checked + listAge(listKind(row)).goodDays * DAY_MS
}

/** Returns when a feed counts as lost, counted from its last confirmation or else from its first failed request. */
export function lostAfter({ refreshHours = 24 }: SourceRow, { checked, first }: FeedState): number | undefined {
  const since = checked ?? first
  return since === undefined ? undefined : since + Math.max(refreshHours * HOUR_MS * LOST_INTERVALS, DAY_MS)
}

/** Reports whether a feed is due at `now`. A last request in the future means that the clock was ahead: the feed is due. */
export function isDue(row: SourceRow, state: FeedState, jitter: number, now: number): boolean {
  return dueAt(row, state, jitter) <= now || (state.tried ?? 0) > now
}

/**
 * Returns when to request a feed again, in milliseconds since the epoch; 0 for a feed that was never requested. `jitter`, 0 to 1, belongs
 * to this installation: it moves the time by up to a tenth to either side, so that installations do not request at once.
 */
function dueAt({ refreshHours = 24 }: SourceRow, { tried, failures }: FeedState, jitter: number): number {
  if (tried === undefined) return 0
  const interval = refreshHours * HOUR_MS
  const wait = failures === 0 ? interval : Math.min(interval, FIRST_RETRY_MS * 2 ** (failures - 1))
  return tried + wait * (0.9 + 0.2 * jitter)
}
