import { createServer, type Server, type Socket } from 'node:net'
import type { OpenConnections } from './connection-limits.ts'
import type { CutCause } from './cut-causes.ts'
import { peek } from './peek.ts'
import type { Peer } from './peer.ts'
import { type ProxyVersion, proxyHeaderReader } from './proxy-header.ts'

export interface FrontOptions {
  /** Every connection begins with a PROXY header of this version; `false`: no connection does. */
  readonly proxyProtocol: ProxyVersion | false
  readonly isTrusted: (peer: string) => boolean
  readonly connections: OpenConnections
  /** Limits the wait for a PROXY header, in milliseconds. */
  readonly headerTime: () => number
  /** Takes a connection; `peer` is the address that a trusted proxy named. */
  readonly onConnection: (socket: Socket, peer?: Peer) => void
  /** Called when a connection is cut. */
  readonly onCut: (cause: CutCause) => void
}

/** Creates a server of plain connections, which it hands on once their peer is known. */
export function createFront(options: FrontOptions): Server {
  const { proxyProtocol, isTrusted, connections, headerTime, onConnection, onCut } = options
  const read = proxyProtocol === false ? undefined : proxyHeaderReader(proxyProtocol)
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
      peek(socket, read, headerTime(), {
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
