import type { Timeouts } from '@sallyport/engine/limits'
import { startTicks } from '../edge/ticks.ts'
import type { Exchange, Side, Wait } from './exchange.ts'
import type { Roster } from './roster.ts'

/** Holds the members of an exchange that the clocks use. */
export type Watched = Pick<
  Exchange,
  'place' | 'wait' | 'times' | 'over' | 'ended' | 'awaited' | 'moved' | 'late' | 'isLost' | 'lose' | 'fail' | 'end'
>

/** Limits how long an answer or a cut may take; never more than the client had. */
const GRACE_MS = 5_000

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
    const time = watched.times[side] ?? times[side]
    if (wait.waited < time) return
    const least = ofClient ? Math.max(1, (minRate * wait.waited) / 1_000) : 1
    if (wait.moved < least) {
      if (ofClient) wait.grace = Math.min(GRACE_MS, time)
      watched.late(side)
    }
    wait.waited = 0
    wait.moved = 0
  }

  return startTicks(Object.values(times), (elapsed) => {
    for (const watched of roster.all()) tend(roster, watched, onLeak, (wait) => look(watched, wait, elapsed))
  })
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
