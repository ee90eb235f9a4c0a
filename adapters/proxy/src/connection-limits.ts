import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type Address, formatAddress, parseAddress } from '@sallyport/core'

/** How many connections there may be at one time. */
export interface ConnectionLimits {
  /** Of all clients together. */
  readonly connections: number
  /** Of one address; of one network of `ipv6Prefix` bits where that is IPv6. */
  readonly connectionsPerClient: number
  /** Bits of an IPv6 address that count as one client. */
  readonly ipv6Prefix: number
}

/**
 * Refuses connections beyond the limits, while those of others are accepted. The connections of a trusted proxy carry
 * many clients and are not counted by address. `onRefused` is called for each that was refused.
 */
export function limitConnections(
  server: Server,
  { connections, connectionsPerClient, ipv6Prefix }: ConnectionLimits,
  isTrusted: (peer: string) => boolean,
  onRefused: () => void,
): void {
  const open = new Map<string, number>()
  server.maxConnections = connections
  server.on('drop', onRefused)
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? ''
    if (isTrusted(peer)) return
    const key = clientKey(parseAddress(peer), ipv6Prefix)
    const count = (open.get(key) ?? 0) + 1
    if (count > connectionsPerClient) {
      onRefused()
      socket.resetAndDestroy()
      return
    }
    open.set(key, count)
    socket.once('close', () => {
      const left = (open.get(key) ?? 1) - 1
      if (left === 0) open.delete(key)
      else open.set(key, left)
    })
  })
}

/** What one client is counted under; all whose address is not known are one. */
export function clientKey(address: Address | undefined, ipv6Prefix: number): string {
  if (address === undefined) return ''
  if (address.family === 4) return formatAddress(address)
  const words = [address.a, address.b, address.c, address.d]
  return words.map((word, index) => (word & mask(ipv6Prefix - 32 * index)) >>> 0).join(':')
}

function mask(bits: number): number {
  if (bits <= 0) return 0
  return bits >= 32 ? -1 : -1 << (32 - bits)
}
