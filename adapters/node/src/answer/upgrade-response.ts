import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * A response on the socket of an upgrade, for which Node makes none; the connection closes once it is sent. `undefined`,
 * and the socket destroyed, where an earlier request of this connection is still being answered.
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
  // Node has taken its own listener off this socket: without one an answer ends where its reader is slower than it.
  socket.on('drain', () => response.emit('drain'))
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.destroySoon()
  })
  return response
}
