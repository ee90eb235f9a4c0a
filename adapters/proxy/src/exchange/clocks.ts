import type { Timeouts } from '@sallyport/engine/limits'
import type { Placed, Roster } from './roster.ts'

/**
 * The side that the proxy waits for: the client with its body, the client as the reader of its answer, or the origin, which takes no more
 * of the body, sends no head, or no more of its answer.
 */
export type Side = 'body' | 'reading' | 'upload' | 'head' | 'answer'

/** An exchange that has clocks. */
export interface Watched extends Placed {
  /** Returns the side to wait for; `undefined` while only we have work to do. */
  awaited(): Side | undefined
  /** Counts the bytes that this side has moved so far. */
  moved(side: Side): number
  /** Answers or cuts the exchange; called once for a client, and after each period in which an origin was silent. */
  late(side: Side): void
  /** Reports whether the client's connection was reset; called while nothing moves. */
  isLost(): boolean
  /** Cuts the connection, which was reset or has not sent its last bytes. Called once. */
  lose(): void
  /** Called once, where one of these methods threw. */
  fail(error: unknown): void
  /** Whether the proxy no longer waits for anything: all work is done. */
  readonly over: boolean
  /** Whether the exchange has released everything that it held. */
  readonly ended: boolean
  /** Releases what the exchange holds, where its connection has gone and nothing else has ended it. */
  end(): void
  /** Times of this exchange alone, in milliseconds. */
  readonly times?: Partial<Readonly<Record<Side, number>>> | undefined
  /** Belongs to the clocks; absent until their first check. */
  wait: Wait | undefined
}

/** Counts how long the proxy waited for one side, and what that side moved meanwhile. */
export interface Wait {
  side: Side | undefined
  bytes: number
  waited: number
  moved: number
  /** Limits the last bytes to a client that was late; absent: the client was not late. */
  grace?: number | undefined
  /** Whether the last check found the connection gone or cut. */
  gone?: boolean | undefined
}

/** Limits how long an answer or a cut may take; never more than the client had. */
const GRACE_MS = 5_000
/** Sets how many checks fit into the shortest time-out. */
const STEPS = 4
const MIN_INTERVAL_MS = 10
const MAX_INTERVAL_MS = 1_000

/**
 * Checks all members of a roster with one timer, until each is over and has ended. Time counts against a side only while the proxy waits
 * for it. A client must move at least `minRate` over its time; an origin must move something. Calls `onLeak` for each exchange that only
 * the clocks ended. The returned function stops the clocks.
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
    // A process that stood still did not wait for any client.
    const elapsed = Math.min(now - last, 2 * interval)
    last = now
    for (const watched of roster.all()) tend(roster, watched, onLeak, (wait) => look(watched, wait, elapsed))
  }, interval).unref()
  return () => clearInterval(timer)
}

/** Removes an exchange that is over and has ended, ends one that only seems to be over, and checks any other. */
function tend(roster: Roster<Watched>, watched: Watched, onLeak: () => void, look: (wait: Wait) => void): void {
  watched.wait ??= { side: undefined, bytes: 0, waited: 0, moved: 0 }
  const { wait } = watched
  try {
    if (watched.over && watched.ended) {
      roster.remove(watched)
    } else if (wait.gone) {
      // The connection had one check's time to end the exchange.
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
