import { createServer, type Server, type Socket } from 'node:net'
import type { CutCause } from './cut-causes.ts'
import { peek } from './peek.ts'
import { setPeer } from './peer.ts'
import { type Carried, type Endpoint, type ProxyVersion, proxyHeaderReader } from './proxy-header.ts'

export interface FrontOptions {
  /** Every connection begins with a PROXY header of this version; `false`: none does. */
  readonly proxyProtocol: ProxyVersion | false
  readonly isTrusted: (peer: string) => boolean
  /** Counts a connection of a peer until it closes; false where it is one too many. */
  readonly admit: (socket: Socket, peer: string) => boolean
  /** Milliseconds for a PROXY header. */
  readonly headerTime: () => number
  /** `peer` is who a trusted proxy named. */
  readonly onConnection: (socket: Socket, peer?: Endpoint) => void
  /** A connection was cut. */
  readonly onCut: (cause: CutCause) => void
}

/** A server of plain connections, which are handed on once it is known whose they are. */
export function createFront(options: FrontOptions): Server {
  const { proxyProtocol, isTrusted, admit, headerTime, onConnection, onCut } = options
  const read = proxyProtocol === false ? undefined : proxyHeaderReader(proxyProtocol)
  const cut = (socket: Socket, cause: CutCause): void => {
    onCut(cause)
    socket.resetAndDestroy()
  }
  const enter = (socket: Socket, peer?: Endpoint): void => {
    if (!admit(socket, peer?.address ?? socket.remoteAddress ?? '')) {
      cut(socket, 'connections')
      return
    }
    onConnection(socket, peer)
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // One that ends while nobody has it yet ends nothing else.
    socket.on('error', () => {})
    if (read === undefined) {
      enter(socket)
    } else if (isTrusted(socket.remoteAddress ?? '')) {
      peek<Carried>(socket, read, headerTime(), {
        onRead: (carried) => enter(socket, carried === 'local' ? undefined : carried),
        onRefused: () => cut(socket, 'proxy_header'),
      })
    } else {
      cut(socket, 'proxy_header')
    }
  })
  return server
}

/** Names the peer of a plain connection. */
export function withPeer(socket: Socket, peer: Endpoint | undefined): Socket {
  if (peer !== undefined) setPeer(socket, peer)
  return socket
}
