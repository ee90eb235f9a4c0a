import { DAY_MS } from '../duration.ts'
import type { CountLimit } from '../values/counting.ts'

/** A store keeps one count. `sliding` has both windows and the start of the later one; `fixed` has its end. */
export interface CountRow {
  readonly used: number
  readonly before: number
  /** Times are milliseconds since the epoch. */
  readonly at: number
}

export interface CountState {
  readonly allowed: boolean
  /** A whole number; it includes this request where it was allowed. */
  readonly used: number
  /** Milliseconds until the window ends; where not allowed, until a request of this cost fits. */
  readonly resetMs: number
}

export interface Step extends CountState {
  /** The row to keep: unchanged counts where nothing was taken. */
  readonly row: CountRow
  /** The row has no effect after this time. */
  readonly endsAt: number
  /** True where it has no room for a request of cost 1. */
  readonly full: boolean
  /** The clock went back. The row must be kept even where nothing was taken, or it would begin again at each request. */
  readonly rewound: boolean
}

/** Returns what fits into a share of a limit of `max`: at least 1. */
export function scaleLimit(max: number, share: number): number {
  return Math.max(1, Math.floor(max * share))
}

/** Limits how far a clock may go back, as by a wrong time zone, without opening a limit. */
const REWIND_MS = DAY_MS

function isRewound(kept: CountRow | undefined, now: number, standsStillMs: number): boolean {
  return kept !== undefined && kept.at - now > standsStillMs && kept.at - now <= REWIND_MS
}

/** Sums of shares are not exact. */
const TOLERANCE = 1e-9

/**
 * Takes `cost` from a count if it fits. Pure: the same steps in every store. A clock that goes back by less than a window stands still
 * meanwhile; by more, up to a day, earlier counts count as if they were made now, so that no limit opens and none lasts longer than a
 * window; by more than a day the count starts again.
 */
export function takeStep(limit: CountLimit, row: CountRow | undefined, cost: number, now: number): Step {
  return KINDS[limit.kind](limit, row, cost, now)
}

/**
 * Removes a cost from a row, for any kind of limit. It needs no clock, because a count that fell meanwhile only must not fall below zero.
 */
export function giveBack({ used, before, at }: CountRow, cost: number): CountRow {
  return { used: Math.max(0, used - cost), before: Math.max(0, before - Math.max(0, cost - used)), at }
}

type Take = (limit: CountLimit, row: CountRow | undefined, cost: number, now: number) => Step

const KINDS: Readonly<Record<CountLimit['kind'], Take>> = { sliding: takeSliding, fixed: takeFixed, bucket: takeBucket }

function takeFixed({ max, windowMs }: CountLimit, kept: CountRow | undefined, cost: number, now: number): Step {
  const open = kept !== undefined && kept.at > now && kept.at - now <= 2 * windowMs
  const rewound = isRewound(kept, now, 2 * windowMs)
  const { used, at } = open ? kept : { used: rewound ? (kept?.used ?? 0) : 0, at: now + windowMs }
  const allowed = used + cost <= max
  const after = allowed ? used + cost : used
  const resetMs = Math.min(windowMs, at - now)
  const row = { used: after, before: 0, at }
  return { allowed, used: after, resetMs, row, endsAt: at, full: after + 1 > max, rewound }
}

function takeSliding({ max, windowMs }: CountLimit, kept: CountRow | undefined, cost: number, time: number): Step {
  const current = slideWindows(kept, windowMs, time)
  const { before, at } = current
  const now = Math.max(time, at)
  const weighted = before * (1 - (now - at) / windowMs) + current.used
  const allowed = weighted + cost <= max + TOLERANCE
  const taken = allowed ? cost : 0
  return {
    allowed,
    used: Math.ceil(weighted + taken - TOLERANCE),
    resetMs: allowed ? at + windowMs - now : waitSliding(current, max - cost, windowMs) - (now - at),
    row: { used: current.used + taken, before, at },
    endsAt: at + 2 * windowMs,
    full: weighted + taken + 1 > max + TOLERANCE,
    rewound: isRewound(kept, time, windowMs),
  }
}

/** Moves the two windows to now: windows begin at whole multiples of their length, so that all processes agree on them. */
function slideWindows(kept: CountRow | undefined, windowMs: number, now: number): CountRow {
  const at = now - (now % windowMs)
  if (kept === undefined) return { used: 0, before: 0, at }
  if (isRewound(kept, now, windowMs)) return { used: kept.used, before: kept.before, at }
  if (kept.at > now + windowMs || kept.at + windowMs < at) return { used: 0, before: 0, at }
  return kept.at >= at ? kept : { used: 0, before: kept.used, at }
}

/** Returns the time from the start of the window until the weighted count is at most `fits`. */
function waitSliding({ used, before }: CountRow, fits: number, windowMs: number): number {
  if (fits >= used && before > 0) return Math.ceil(windowMs * (1 - (fits - used) / before))
  // In the next window this one becomes the previous one.
  return windowMs + (used > 0 ? Math.ceil(windowMs * Math.max(0, 1 - Math.max(0, fits) / used)) : 0)
}

function takeBucket(
  { max, windowMs, refill }: CountLimit,
  kept: CountRow | undefined,
  cost: number,
  time: number,
): Step {
  const rewound = isRewound(kept, time, windowMs)
  const stands = kept !== undefined && kept.at - time <= windowMs
  const usable = stands ? kept : { used: rewound ? (kept?.used ?? 0) : 0, at: time }
  const now = Math.max(time, usable.at)
  const perMs = refill / windowMs
  const level = Math.max(0, usable.used - (now - usable.at) * perMs)
  const allowed = level + cost <= max + TOLERANCE
  const after = allowed ? level + cost : level
  return {
    allowed,
    used: Math.ceil(after - TOLERANCE),
    resetMs: Math.ceil((allowed ? after : level + Math.min(cost, max) - max) / perMs - TOLERANCE),
    row: { used: after, before: 0, at: now },
    endsAt: now + Math.ceil(after / perMs),
    full: after + 1 > max + TOLERANCE,
    rewound,
  }
}
