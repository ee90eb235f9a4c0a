import type { Timeouts } from '@sallyport/engine/limits'
import type { Placed, Roster } from './roster.ts'

/**
 * The side that is waited for: the client with its body, the client as the reader of its answer, or the origin, which
 * takes no more of the body, sends no head, or no more of its answer.
 */
export type Side = 'body' | 'reading' | 'upload' | 'head' | 'answer'

/** An exchange with clocks. */
export interface Watched extends Placed {
  /** `undefined` while nobody but ourselves is waited for. */
  awaited(): Side | undefined
  /** Bytes that this side has moved so far. */
  moved(side: Side): number
  /** Answers or cuts it; called once for a client, and after each time that an origin lets pass. */
  late(side: Side): void
  /** Whether the client's connection was reset; asked while nothing moves. */
  isLost(): boolean
  /** Cuts its connection: that was reset, or what was to end it has not gone out. Called once. */
  lose(): void
  /** Called once, where one of these threw. */
  fail(error: unknown): void
  /** Nothing more is waited for. */
  readonly over: boolean
  /** All that it held was given back. */
  readonly ended: boolean
  /** Gives back what it holds, where its connection has gone and nothing else did. */
  end(): void
  /** Times of its own, in milliseconds. */
  readonly times?: Partial<Readonly<Record<Side, number>>> | undefined
  /** Kept by the clocks; absent until they have looked once. */
  wait: Wait | undefined
}

/** How long one side was waited for, and what it has moved in that time. */
export interface Wait {
  side: Side | undefined
  bytes: number
  waited: number
  moved: number
  /** Its client was late: for so long what ends it may take to go out. Absent: it was not. */
  grace?: number | undefined
  /** Its connection had gone, or was cut, when it was looked at last. */
  gone?: boolean | undefined
}

/** For an answer or a cut to go out; no longer than the client had. */
const GRACE_MS = 5_000
/** How finely the shortest time-out is measured, and how often everything is looked at. */
const STEPS = 4
const MIN_INTERVAL_MS = 10
const MAX_INTERVAL_MS = 1_000

/**
 * Looks at all on a roster now and then, instead of a timer for each, until it is over and has ended. Time counts against a
 * side only while it is waited for. A client that is waited for moves at least `minRate` over its time; an origin moves
 * something. `onLeak` is called for each that nothing but the clocks ended. The returned function stops.
 */
export function startClocks(roster: Roster<Watched>, timeouts: Timeouts, onLeak: () => void): () => void {
  const { idleBody, clientUnread, originHeaders, minRate } = timeouts
  // The origin has no less time within a body than the client.
  const within = Math.max(idleBody, originHeaders)
  const times: Readonly<Record<Side, number>> = {
    body: idleBody,
    reading: clientUnread,
    upload: within,
    head: originHeaders,
    answer: within,
  }
  const interval = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.min(...Object.values(times)) / STEPS))
  let last = performance.now()

  const lose = (watched: Watched, wait: Wait): void => {
    wait.gone = true
    watched.lose()
  }

  const look = (watched: Watched, wait: Wait, elapsed: number): void => {
    const side = watched.awaited()
    const bytes = side === undefined ? 0 : watched.moved(side)
    const moved = bytes - wait.bytes
    wait.bytes = bytes
    if (moved <= 0 && watched.isLost()) {
      lose(watched, wait)
      return
    }
    if (wait.grace !== undefined) {
      wait.grace -= elapsed
      if (wait.grace <= 0) lose(watched, wait)
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
    const time = watched.times?.[side] ?? times[side]
    if (wait.waited < time) return
    const least = ofClient ? Math.max(1, (minRate * wait.waited) / 1_000) : 1
    if (wait.moved < least) {
      if (ofClient) wait.grace = Math.min(GRACE_MS, time)
      watched.late(side)
    }
    wait.waited = 0
    wait.moved = 0
  }

  const timer = setInterval(() => {
    const now = performance.now()
    // A process that stood still has not waited for anybody.
    const elapsed = Math.min(now - last, 2 * interval)
    last = now
    for (const watched of roster.all()) tend(roster, watched, onLeak, (wait) => look(watched, wait, elapsed))
  }, interval).unref()
  return () => clearInterval(timer)
}

/** Leaves one that is over and has ended, ends one that only seems to be over, and looks at any other. */
function tend(roster: Roster<Watched>, watched: Watched, onLeak: () => void, look: (wait: Wait) => void): void {
  watched.wait ??= { side: undefined, bytes: 0, waited: 0, moved: 0 }
  const { wait } = watched
  try {
    if (watched.over && watched.ended) {
      roster.remove(watched)
    } else if (wait.gone) {
      // Its connection had the time of a look to end it.
      roster.remove(watched)
      watched.end()
      onLeak()
    } else if (watched.over) {
      wait.gone = true
    } else {
      look(wait)
    }
  } catch (error) {
    wait.gone = true
    watched.fail(error)
  }
}
