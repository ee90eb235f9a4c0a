import { DAY_MS } from '../duration.ts'
import type { CountLimit } from '../values/counting.ts'

/** One count as a store keeps it. Of `sliding`: both windows and when the later one began; `fixed`: when it ends. */
export interface CountRow {
  readonly used: number
  readonly before: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A count's answer to one request. */
export interface CountState {
  readonly allowed: boolean
  /** Whole; this request included where it was allowed. */
  readonly used: number
  /** Milliseconds until the window ends; where not allowed, until a request of this cost fits. */
  readonly resetMs: number
}

export interface Step extends CountState {
  /** The row to keep: unchanged counts where nothing was taken. */
  readonly row: CountRow
  /** When nothing of it counts any more. */
  readonly endsAt: number
  /** No request of cost 1 fits. */
  readonly full: boolean
  /** The clock went back, and the row is to be kept also where nothing was taken: else it would begin at each request. */
  readonly rewound: boolean
}

/** Returns what fits into a share of a limit of `max`: never nothing. */
export function shareOfMax(max: number, share: number): number {
  return Math.max(1, Math.floor(max * share))
}

/** How far a clock may go back, as by a wrong time zone, without opening a limit. */
const REWIND_MS = DAY_MS

function isRewound(kept: CountRow | undefined, now: number, standsStillMs: number): boolean {
  return kept !== undefined && kept.at - now > standsStillMs && kept.at - now <= REWIND_MS
}

/** Sums of shares are not exact. */
const TOLERANCE = 1e-9

/**
 * Takes `cost` from a count if it fits. Pure: the same steps in every store. A clock that goes back by less than a window
 * stands still meanwhile; by more, up to a day, what was counted counts as if it were now, so that no limit opens and none
 * holds longer than a window; by more than a day the count begins again.
 */
export function takeStep(limit: CountLimit, row: CountRow | undefined, cost: number, now: number): Step {
  return KINDS[limit.kind](limit, row, cost, now)
}

/**
 * A row without a cost that was taken before, by any kind of limit: it needs no clock, as a count that fell meanwhile is only
 * kept from falling below nothing.
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
  const current = slid(kept, windowMs, time)
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

/** The two windows as of now: windows begin at whole multiples of their length, so that all processes agree on them. */
function slid(kept: CountRow | undefined, windowMs: number, now: number): CountRow {
  const at = now - (now % windowMs)
  if (kept === undefined) return { used: 0, before: 0, at }
  if (isRewound(kept, now, windowMs)) return { used: kept.used, before: kept.before, at }
  if (kept.at > now + windowMs || kept.at + windowMs < at) return { used: 0, before: 0, at }
  return kept.at >= at ? kept : { used: 0, before: kept.used, at }
}

/** From the beginning of the window until the weighted count is at most `fits`. */
function waitSliding({ used, before }: CountRow, fits: number, windowMs: number): number {
  if (fits >= used && before > 0) return Math.ceil(windowMs * (1 - (fits - used) / before))
  // In the next window this one is the one before.
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
