import type { IncomingMessage } from 'node:http'
import { hearHeads, type ParsedConnection } from './parsed-heads.ts'

/** Keys the request whose answer ends a connection. Every copy of this package in a process knows the symbol. */
const LAST: unique symbol = Symbol.for('sallyport.last-request') as never

interface Connection extends ParsedConnection {
  [LAST]?: object | undefined
}

/**
 * Stops Node's parser at heads that come while `isOver`. Node parses all requests in one read of 64 KB, and the server runs them even after
 * an answer that ends the connection (RFC 9112 9.6).
 */
export function stopParsing(connection: Connection, isOver: () => boolean): void {
  hearHeads(connection, (request, go) => {
    if (!isOver()) return go()
    // Otherwise Node tells the server of an upgrade.
    request.upgrade = false
    return 2
  })
}

/** Stops the parser of a connection once the connection is destroyed or its sending side is closed. */
export function stopParsingWhenEnded(connection: Connection): void {
  stopParsing(connection, () => connection.destroyed || connection.writableEnded)
}

/** Makes a request the last of its connection: later requests are not parsed, or not inspected where they were parsed already. */
export function markLast(req: Pick<IncomingMessage, 'socket'>): void {
  const connection = req.socket as IncomingMessage['socket'] & Connection
  if (connection[LAST] !== undefined) return
  connection[LAST] = req
  stopParsing(connection, () => true)
}

/** Reports whether a request came after the last request of its connection: the client can receive no answer. */
export function isBehindLast(req: IncomingMessage): boolean {
  // HTTP/2 hides the socket of a stream that is already gone.
  const last = (req.socket as Connection | undefined)?.[LAST]
  return last !== undefined && last !== req
}
