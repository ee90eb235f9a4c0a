import { createServer, type Server, type Socket } from 'node:net'
import type { OpenConnections } from './connection-limits.ts'
import type { CutCause, EdgeOptions } from './edge-options.ts'
import { peek } from './first-bytes.ts'
import type { Peer } from './peer.ts'
import { proxyHeaderReader } from './proxy-header.ts'

/**
 * Creates a server of plain connections, which it hands on once their peer is known; `onConnection` gets the peer that a trusted proxy
 * named.
 */
export function createFront(
  { proxyProtocol, isTrusted, timeouts, onCut }: EdgeOptions,
  connections: OpenConnections,
  onConnection: (socket: Socket, peer?: Peer) => void,
): Server {
  const read = proxyProtocol ? proxyHeaderReader(proxyProtocol) : undefined
  const cut = (socket: Socket, cause: CutCause): void => {
    onCut(cause)
    socket.resetAndDestroy()
  }
  const enter = (socket: Socket, peer?: Peer): void => {
    if (!connections.admit(socket, findAddress(socket, peer))) {
      cut(socket, 'connections')
      return
    }
    onConnection(socket, peer)
  }

  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // A connection that fails before it is handed on ends nothing else.
    socket.on('error', () => {})
    if (socket.remoteAddress === undefined) {
      // The client reset the connection before it was accepted: its peer is unknown.
      socket.destroy()
    } else if (!connections.accept(socket)) {
      cut(socket, 'connections')
    } else if (read === undefined) {
      enter(socket)
    } else if (isTrusted(socket.remoteAddress)) {
      peek(socket, read, timeouts().header, {
        onRead: (peer) => enter(socket, peer),
        onRefused: () => cut(socket, 'proxy_header'),
      })
    } else {
      cut(socket, 'proxy_header')
    }
  })
}

/** Finds the address under which a connection is counted; '' for connections without an address. */
function findAddress(socket: Socket, peer: Peer | undefined): string {
  if (peer === undefined) return socket.remoteAddress ?? ''
  return peer === 'unknown' ? '' : peer.address
}
