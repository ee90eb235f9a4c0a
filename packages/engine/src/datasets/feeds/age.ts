import { ageOf, DAY_MS, HOUR_MS } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import type { FeedState } from '../sources/feed-state.ts'
import { kindOf } from '../sources/list-kind.ts'

/** Data that is no list is past its age after three of its refresh intervals, but never before a day. */
const STALE_INTERVALS = 3
const MIN_STALE_MS = DAY_MS

/** The first wait after a failure; doubled for each further one, up to the refresh interval. */
const FIRST_RETRY_MS = 5 * 60_000

/** When data that was true at `checked` is past its age; `undefined` for what is never refreshed. */
export function staleAfter(row: SourceRow, checked: number): number | undefined {
  const { refreshHours } = row
  if (refreshHours === undefined) return undefined
  const kind = kindOf(row)
  if (kind !== undefined) return checked + ageOf(kind).goodDays * DAY_MS
  return checked + Math.max(refreshHours * HOUR_MS * STALE_INTERVALS, MIN_STALE_MS)
}

/** Whether a feed is to be asked for at `now`. Also where it was last asked in the future: the clock was ahead then. */
export function isDue(row: SourceRow, state: FeedState, jitter: number, now: number): boolean {
  return dueAt(row, state, jitter) <= now || (state.tried ?? 0) > now
}

/**
 * When a feed is to be asked for again, milliseconds since the epoch; 0 for one that never was. `jitter`, 0 to 1, is
 * this installation's own: it moves the time by up to a tenth to either side, so that not all ask at once.
 */
function dueAt({ refreshHours = 24 }: SourceRow, { tried, failures }: FeedState, jitter: number): number {
  if (tried === undefined) return 0
  const interval = refreshHours * HOUR_MS
  const wait = failures === 0 ? interval : Math.min(interval, FIRST_RETRY_MS * 2 ** (failures - 1))
  return tried + wait * (0.9 + 0.2 * jitter)
}
