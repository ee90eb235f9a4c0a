import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiResponse } from '@sallyport/engine'
import { declaresTooMuch } from './json-body.ts'
import { markLast } from './node-parser.ts'

/** A request whose body may be unread; a request of HTTP/2 is not resumed here. */
type Unread = Pick<IncomingMessage, 'httpVersionMajor' | 'headers' | 'complete' | 'socket'> & {
  resume?(): unknown
}

/** Limits how long a client may take to read the answer before the unread body resets its connection. */
const LINGER_MS = 500

/**
 * Prepares the response to a request whose body is unread: a large body gets `Connection: close`, so that no server has to receive the
 * rest. Node would otherwise read and discard a refused body to its end. Node also reads small bodies, and keeps the connection. A response
 * that ends the connection is the last one: no later request runs.
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
  // A reader that gave up has stopped reading, and Node may have parsed the next request with the end of this one.
  else if (gaveUp) req.resume?.()
  return response
}

/**
 * Delays the close of a socket. After the last response Node calls `destroySoon`, and closing a socket with unread bytes sends a reset, by
 * which a client may lose the response. So the sending side closes first, nothing more is read, and the rest closes after a moment (RFC
 * 9112 9.6).
 */
function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
    // Node resumes the socket to discard the body, and then lets go of the request. Pause after that.
    setImmediate(() => socket.pause())
  }
}
