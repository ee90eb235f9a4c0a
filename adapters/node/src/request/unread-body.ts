import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiResponse } from '@sallyport/engine'
import { declaresTooMuch } from './json-body.ts'
import { markLast } from './last-request.ts'

/** A request whose body may be unread; one of HTTP/2 is not resumed here. */
type Unread = Pick<IncomingMessage, 'httpVersionMajor' | 'headers' | 'complete' | 'socket'> & {
  resume?(): unknown
}

/** How long a client has to read the answer before its connection is reset over the unread body. */
const LINGER_MS = 500

/**
 * The response as it is to be sent while a body is still unread: a large one gets `Connection: close`, so that no one has
 * to receive the rest. Node would otherwise read and discard a refused body to its end. Small bodies are left to Node,
 * which keeps the connection. A response that ends the connection is its last: nothing behind it is carried out.
 */
export function closingUnread<R extends ApiResponse>(req: Unread, response: R): R {
  if (req.httpVersionMajor !== 1) return response
  const large = declaresTooMuch(req) || req.headers['transfer-encoding'] !== undefined
  const gaveUp = response.status === 413 || response.status === 408
  if (!req.complete && (gaveUp || large)) {
    markLast(req)
    lingerOnClose(req.socket)
    return { ...response, headers: { ...response.headers, connection: 'close' } }
  }
  if (response.headers['connection'] === 'close') markLast(req)
  // The reader that gave up has stopped reading, and the next request may have been parsed with the end of this one.
  else if (gaveUp) req.resume?.()
  return response
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
