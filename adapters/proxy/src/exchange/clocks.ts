import type { Timeouts } from '@sallyport/open/limits'
import type { Placed, Roster } from './roster.ts'

/**
 * Who keeps an exchange waiting: the client with its body, the client as the reader of its answer, or the origin, which
 * takes no more of the body, sends no head, or no more of its answer.
 */
export type Side = 'body' | 'reading' | 'upload' | 'head' | 'answer'

/** What has clocks. */
export interface Watched extends Placed {
  /** `undefined` while nobody but ourselves is waited for. */
  awaited(): Side | undefined
  /** Bytes that this side has moved so far. */
  moved(side: Side): number
  /** Called once. */
  late(side: Side): void
  /** Whether the client's connection was reset; asked while nothing moves. */
  isLost(): boolean
  /** Called once, where it was. */
  lose(): void
  /** Called once, where one of these threw. */
  fail(error: unknown): void
  /** Nothing more is waited for. */
  readonly over: boolean
  /** Times of its own, in milliseconds. */
  readonly times?: Partial<Readonly<Record<Side, number>>>
  /** Kept by the clocks; absent until they have looked once. */
  wait: Wait | undefined
}

/** How long one side was waited for, and what it has moved in that time. */
export interface Wait {
  side: Side | undefined
  bytes: number
  waited: number
  moved: number
}

/** How finely the shortest time-out is measured, and how often everything is looked at. */
const STEPS = 4
const MIN_INTERVAL_MS = 10
const MAX_INTERVAL_MS = 1_000

/**
 * Looks at all on a roster now and then, instead of a timer for each. Time counts against a side only while it is waited
 * for. A client that is waited for moves at least `minRate` over its time; an origin moves something. The returned
 * function stops.
 */
export function startClocks(roster: Roster<Watched>, timeouts: Timeouts): () => void {
  const { idleBody, clientUnread, originHeaders, minRate } = timeouts
  const times: Readonly<Record<Side, number>> = {
    body: idleBody,
    reading: clientUnread,
    upload: idleBody,
    head: originHeaders,
    answer: idleBody,
  }
  const interval = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.min(...Object.values(times)) / STEPS))
  let last = performance.now()

  const look = (watched: Watched, wait: Wait, elapsed: number): void => {
    const side = watched.awaited()
    const bytes = side === undefined ? 0 : watched.moved(side)
    const moved = bytes - wait.bytes
    wait.bytes = bytes
    if (moved <= 0 && watched.isLost()) {
      roster.remove(watched)
      watched.lose()
      return
    }
    if (side !== wait.side) {
      wait.side = side
      wait.waited = 0
      wait.moved = 0
      return
    }
    if (side === undefined) return
    const ofClient = side === 'body' || side === 'reading'
    wait.moved += moved
    wait.waited = moved > 0 && !ofClient ? 0 : wait.waited + elapsed
    if (wait.waited < (watched.times?.[side] ?? times[side])) return
    const least = ofClient ? Math.max(1, (minRate * wait.waited) / 1_000) : 1
    if (wait.moved < least) {
      roster.remove(watched)
      watched.late(side)
      return
    }
    wait.waited = 0
    wait.moved = 0
  }

  const timer = setInterval(() => {
    const now = performance.now()
    // A process that stood still has not waited for anybody.
    const elapsed = Math.min(now - last, 2 * interval)
    last = now
    for (const watched of roster.all()) {
      try {
        if (watched.over) roster.remove(watched)
        else if (watched.wait) look(watched, watched.wait, elapsed)
        else watched.wait = { side: undefined, bytes: 0, waited: 0, moved: 0 }
      } catch (error) {
        roster.remove(watched)
        watched.fail(error)
      }
    }
  }, interval).unref()
  return () => clearInterval(timer)
}
