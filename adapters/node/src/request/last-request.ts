import type { IncomingMessage } from 'node:http'
import { hearHeads, type ParsedConnection } from './parsed-heads.ts'

/** On a connection: the request whose answer ends it. Known to every copy of this package in a process. */
const LAST: unique symbol = Symbol.for('sallyport.last-request') as never

interface Connection extends ParsedConnection {
  [LAST]?: object | undefined
}

/**
 * Stops Node's parser at heads that come while `isOver`: Node makes requests of all that is in one read of 64 KB, and the
 * server carries them out, also behind an answer that ends the connection (RFC 9112 9.6).
 */
export function stopParsing(connection: Connection, isOver: () => boolean): void {
  hearHeads(connection, (request, go) => {
    if (!isOver()) return go()
    // Else Node tells the server of an upgrade.
    request.upgrade = false
    return 2
  })
}

/** Stops the parser of a connection from the moment that it is destroyed or its sending side is closed. */
export function stopParsingWhenEnded(connection: Connection): void {
  stopParsing(connection, () => connection.destroyed || connection.writableEnded)
}

/** Makes a request the last of its connection: nothing behind it is parsed, nor inspected where it was parsed already. */
export function markLast(req: Pick<IncomingMessage, 'socket'>): void {
  const connection = req.socket as IncomingMessage['socket'] & Connection
  if (connection[LAST] !== undefined) return
  connection[LAST] = req
  stopParsing(connection, () => true)
}

/** Whether a request came behind the last one of its connection: there is nobody to answer it to. */
export function isBehindLast(req: IncomingMessage): boolean {
  // HTTP/2 hides the socket of a stream that is already gone.
  const last = (req.socket as Connection | undefined)?.[LAST]
  return last !== undefined && last !== req
}
