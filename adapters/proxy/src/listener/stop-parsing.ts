import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** What Node's parser of a connection calls for each head; 2 ends the parsing of what was read, as at an upgrade. */
type OnIncoming = (request: IncomingMessage, keepAlive: boolean) => 0 | 1 | 2

/**
 * Stops Node's parser once its connection was destroyed: one read of 64 KB can hold 2,400 requests, and Node would make
 * objects of each, which takes megabytes and tens of milliseconds; pausing the socket is too late for them. The parser is
 * not documented; where it has changed, the rest of a read is parsed and dropped.
 */
export function stopParsingWhenDestroyed(
  socket: Socket & { readonly parser?: { onIncoming?: OnIncoming } | null },
): void {
  const { parser } = socket
  const inner = parser?.onIncoming
  if (!parser || inner === undefined) return
  parser.onIncoming = (request, keepAlive) => (socket.destroyed ? 2 : inner(request, keepAlive))
}
