import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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
  let waiting = new Map<object, { readonly since: number; readonly begin: Parameters<Pace>[1] }[]>()
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
    if (begun === 0) return
    // A map that lives long and changes at each request is rebuilt in the old generation.
    if (waiting.size === 0) waiting = new Map()
    setImmediate(turn)
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

/**
 * Handles the pipelined requests of a connection in turn, each after the previous answer. Cuts a connection on which more than `max()`
 * requests wait; `onCut` is called once for it. `start` gets the milliseconds that the request waited for its turn of the event loop.
 */
export function createTurns(
  max: () => number,
  onCut: () => void,
  pace: Pace,
): (socket: Socket, response: ServerResponse, start: (waitedMs: number) => void) => void {
  const newest = new WeakMap<Socket, ServerResponse | undefined>()
  const waiting = new WeakMap<Socket, number>()

  return (socket, response, start) => {
    const before = newest.get(socket)
    newest.set(socket, response)
    response.on('close', () => {
      // An idle connection would hold all of its last request.
      if (newest.get(socket) === response) newest.set(socket, undefined)
    })
    const startPaced = (): void =>
      pace(socket, (waitedMs) => {
        // The client left.
        if (response.socket !== null) start(waitedMs)
      })
    if (response.socket !== null) return startPaced()
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    if (count > max()) {
      if (count === max() + 1) onCut()
      socket.destroy()
      return
    }
    before?.once('close', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
      // A queued response gets no event when the client leaves or when the connection ends with the response before it, and then it has no
      // socket when its turn comes.
      if (response.socket !== null) startPaced()
    })
  }
}
