import type { Socket } from 'node:net'
import type { Endpoint } from './proxy-header.ts'

/** Where a socket really comes from; one key for it and for the TLS over it. */
export function endpointKey({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** Gives a connection the peer that a trusted proxy named for it. */
export function setPeer(socket: Socket, { address, port }: Endpoint): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: address, configurable: true },
    remotePort: { value: port, configurable: true },
    remoteFamily: { value: address.includes(':') ? 'IPv6' : 'IPv4', configurable: true },
  })
}
