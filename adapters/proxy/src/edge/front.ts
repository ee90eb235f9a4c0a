import { createServer, type Server, type Socket } from 'node:net'
import type { OpenConnections } from './connection-limits.ts'
import type { CutCause } from './cut-causes.ts'
import { peek } from './peek.ts'
import { type Peer, setPeer } from './peer.ts'
import { type ProxyVersion, proxyHeaderReader } from './proxy-header.ts'

export interface FrontOptions {
  /** Every connection begins with a PROXY header of this version; `false`: none does. */
  readonly proxyProtocol: ProxyVersion | false
  readonly isTrusted: (peer: string) => boolean
  readonly connections: OpenConnections
  /** Milliseconds for a PROXY header. */
  readonly headerTime: () => number
  /** `peer` is who a trusted proxy named. */
  readonly onConnection: (socket: Socket, peer?: Peer) => void
  /** A connection was cut. */
  readonly onCut: (cause: CutCause) => void
}

/** A server of plain connections, which are handed on once it is known whose they are. */
export function createFront(options: FrontOptions): Server {
  const { proxyProtocol, isTrusted, connections, headerTime, onConnection, onCut } = options
  const read = proxyProtocol === false ? undefined : proxyHeaderReader(proxyProtocol)
  const cut = (socket: Socket, cause: CutCause): void => {
    onCut(cause)
    socket.resetAndDestroy()
  }
  const enter = (socket: Socket, peer?: Peer): void => {
    if (!connections.admit(socket, addressOf(socket, peer))) {
      cut(socket, 'connections')
      return
    }
    onConnection(socket, peer)
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // One that ends while nobody has it yet ends nothing else.
    socket.on('error', () => {})
    if (socket.remoteAddress === undefined) {
      // It was reset before it was looked at: nobody knows whose it was.
      socket.destroy()
    } else if (!connections.accept(socket)) {
      cut(socket, 'connections')
    } else if (read === undefined) {
      enter(socket)
    } else if (isTrusted(socket.remoteAddress)) {
      peek(socket, read, headerTime(), {
        onRead: (peer) => enter(socket, peer),
        onRefused: () => cut(socket, 'proxy_header'),
      })
    } else {
      cut(socket, 'proxy_header')
    }
  })
  return server
}

/** The address that a connection is counted under; '' for all that have none. */
function addressOf(socket: Socket, peer: Peer | undefined): string {
  if (peer === undefined) return socket.remoteAddress ?? ''
  return peer === 'unknown' ? '' : peer.address
}

/** Names the peer of a plain connection. */
export function withPeer(socket: Socket, peer: Peer | undefined): Socket {
  if (peer !== undefined) setPeer(socket, peer)
  return socket
}
