import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiResponse } from '@sallyport/api'
import { declaresTooMuch } from './json-body.ts'

/** How long a client has to read the answer before its connection is reset over the unread body. */
const LINGER_MS = 500

/**
 * The response as it is to be sent while a large body is still unread: with `Connection: close`, so that no one has to
 * receive the rest. Node would otherwise read and discard a refused body to its end. Small bodies are left to Node,
 * which keeps the connection.
 */
export function closingUnread<R extends ApiResponse>(req: IncomingMessage, response: R): R {
  if (req.httpVersionMajor !== 1) return response
  const large = declaresTooMuch(req) || req.headers['transfer-encoding'] !== undefined
  const gaveUp = response.status === 413 || response.status === 408
  if (!gaveUp && (req.complete || !large)) return response
  lingerOnClose(req.socket)
  return { ...response, headers: { ...response.headers, connection: 'close' } }
}

/**
 * After the last response Node calls `destroySoon`, and closing a socket with bytes unread sends a reset, by which a
 * client may lose the response. So the sending side is closed first, nothing more is read, and the rest follows after a
 * moment (RFC 9112 9.6).
 */
function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
    // Once Node has let go of the request: it resumes the socket to discard the body.
    setImmediate(() => socket.pause())
  }
}
