import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Creates a response on the socket of an upgrade, for which Node creates none; the connection closes once the response is sent. While an
 * earlier request of the connection waits for its answer, it destroys the socket and returns `undefined`.
 */
export function responseOn(socket: Socket, request: IncomingMessage): ServerResponse | undefined {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  try {
    response.assignSocket(socket)
  } catch {
    socket.destroy()
    return undefined
  }
  // Node has taken its own listener off this socket. Without one, an answer would stop at the first client that reads slowly.
  socket.on('drain', () => response.emit('drain'))
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.destroySoon()
  })
  return response
}
