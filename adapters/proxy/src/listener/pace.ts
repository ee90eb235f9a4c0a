/** Limits the requests that begin in one turn of the event loop: about a millisecond of work. */
const PER_TURN = 8

/** Begins a request of a connection, in this turn of the event loop or later; `waitedMs` is the delay. */
export type Pace = (connection: object, begin: (waitedMs: number) => void) => void

/**
 * Keeps the turns of the event loop short: libuv accepts one new connection in each turn, so all other clients would wait while one turn
 * answers a thousand requests of one client. Connections take turns, each with one request.
 */
export function createPace(): Pace {
  /** Holds the requests of each connection that wait for their turn. */
  const waiting = new Map<object, { readonly since: number; readonly begin: Parameters<Pace>[1] }[]>()
  let begun = 0

  const turn = (): void => {
    begun = 0
    for (const [connection, queue] of waiting) {
      if (begun === PER_TURN) break
      waiting.delete(connection)
      const { since, begin } = queue.shift() as (typeof queue)[0]
      // The connection moves to the end, behind connections that had no turn.
      if (queue.length > 0) waiting.set(connection, queue)
      begun++
      begin(performance.now() - since)
    }
    if (begun > 0) setImmediate(turn)
  }

  return (connection, begin) => {
    if (begun < PER_TURN && waiting.size === 0) {
      if (begun === 0) setImmediate(turn)
      begun++
      begin(0)
      return
    }
    const one = { since: performance.now(), begin }
    const queue = waiting.get(connection)
    if (queue) queue.push(one)
    else waiting.set(connection, [one])
  }
}
