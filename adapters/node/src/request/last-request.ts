import type { IncomingMessage } from 'node:http'

/** On a connection: the request whose answer ends it. Known to every copy of this package in a process. */
const LAST: unique symbol = Symbol.for('sallyport.last-request') as never

/** The function that Node's parser of a connection calls for each head; 2 ends the parsing of what was read, as at an upgrade. */
type OnIncoming = (request: { upgrade?: boolean | null | undefined }, keepAlive: boolean) => 0 | 1 | 2

interface Connection {
  readonly destroyed: boolean
  readonly writableEnded: boolean
  readonly parser?: { onIncoming?: OnIncoming | undefined } | null | undefined
  [LAST]?: IncomingMessage | undefined
}

/**
 * Stops Node's parser at heads that come while `isOver`: Node makes requests of all that is in one read of 64 KB, and the
 * server carries them out, also behind an answer that ends the connection (RFC 9112 9.6). The parser is not documented;
 * where it has changed, the rest of a read is parsed (D91).
 */
export function stopParsing(connection: Connection, isOver: () => boolean): void {
  const { parser } = connection
  const inner = parser?.onIncoming
  if (!parser || inner === undefined) return
  parser.onIncoming = (request, keepAlive) => {
    if (!isOver()) return inner(request, keepAlive)
    // Else Node tells the server of an upgrade.
    request.upgrade = false
    return 2
  }
}

/** Stops the parser of a connection from the moment that it is destroyed or its sending side is closed. */
export function stopParsingWhenEnded(connection: Connection): void {
  stopParsing(connection, () => connection.destroyed || connection.writableEnded)
}

/** Makes a request the last of its connection: nothing behind it is parsed, nor inspected where it was parsed already. D325. */
export function markLast(req: IncomingMessage): void {
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
