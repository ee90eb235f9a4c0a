import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { formatAddress, parseAddress } from '@sallyport/core'

/** How many connections one client may have at one time. */
export interface ConnectionLimits {
  /** Of one address; of one network of `ipv6Prefix` bits where that is IPv6. */
  readonly connectionsPerClient: number
  /** Bits of an IPv6 address that count as one client. */
  readonly ipv6Prefix: number
}

/**
 * Refuses connections beyond the limits, and counts those beyond `server.maxConnections`. The connections of a trusted proxy carry
 * many clients and are not counted by address. `onRefused` is called for each that was refused.
 */
export function limitConnections(
  server: Server,
  limits: () => ConnectionLimits,
  isTrusted: (peer: string) => boolean,
  onRefused: () => void,
): void {
  const open = new Map<string, number>()
  server.on('drop', onRefused)
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? ''
    if (isTrusted(peer)) return
    const { connectionsPerClient, ipv6Prefix } = limits()
    const key = clientKey(peer, ipv6Prefix)
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

/** What the client with an address is counted under; all whose address is not known are one. */
export function clientKey(text: string, ipv6Prefix: number): string {
  const address = parseAddress(text)
  if (address === undefined) return ''
  if (address.family === 4) return formatAddress(address)
  const words = [address.a, address.b, address.c, address.d]
  return words.map((word, index) => (word & mask(ipv6Prefix - 32 * index)) >>> 0).join(':')
}

function mask(bits: number): number {
  if (bits <= 0) return 0
  return bits >= 32 ? -1 : -1 << (32 - bits)
}
