import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Pace } from './pace.ts'

/**
 * Handles the pipelined requests of a connection in turn, each after the previous answer. Cuts a connection on which more than `max()`
 * requests wait; `onCut` is called once for it. `start` gets the milliseconds that the request waited for its turn of the event loop.
 */
export function createTurns(
  max: () => number,
  onCut: () => void,
  pace: Pace,
): (socket: Socket, response: ServerResponse, start: (waitedMs: number) => void) => void {
  const newest = new WeakMap<Socket, ServerResponse>()
  const waiting = new WeakMap<Socket, number>()

  return (socket, response, start) => {
    const before = newest.get(socket)
    newest.set(socket, response)
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
