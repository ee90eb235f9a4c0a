import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** The address and port that a trusted proxy names; `'unknown'`: the proxy names none, and the connection has no client. */
export type Peer = { readonly address: string; readonly port: number } | 'unknown'

/** Gives a connection the peer that a trusted proxy named; an unknown peer has no address, as on a Unix socket. */
export function setPeer(socket: Socket, peer: Peer): void {
  const { address, port } = peer === 'unknown' ? { address: undefined, port: undefined } : peer
  const family = address === undefined ? undefined : address.includes(':') ? 'IPv6' : 'IPv4'
  Object.defineProperties(socket, {
    remoteAddress: { value: address, configurable: true },
    remotePort: { value: port, configurable: true },
    remoteFamily: { value: family, configurable: true },
  })
}

/** Returns the connection under TLS; `undefined` where Node does not reveal it. Node does not document `_parent`. */
export function underlying(socket: TLSSocket & { readonly _parent?: unknown }): object | undefined {
  const { _parent: parent } = socket
  return typeof parent === 'object' && parent !== null ? parent : undefined
}
