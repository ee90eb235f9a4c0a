import type { Socket } from 'node:net'
import { formatAddress, parseAddress } from '@sallyport/core'

/** How many connections there may be at one time. */
export interface ConnectionLimits {
  /** Of all clients. */
  readonly connections: number
  /** Of one address; of one network of `ipv6Prefix` bits where that is IPv6. */
  readonly connectionsPerClient: number
  /** Bits of an IPv6 address that count as one client. */
  readonly ipv6Prefix: number
}

/** Connections that are open. */
export interface OpenConnections {
  readonly count: number
  /** Counts one of a peer until it closes; false, and not counted, where it is one too many. */
  admit(socket: Socket, peer: string): boolean
  /** Cuts all of them. */
  cutAll(): void
}

/** Counts connections. Those of a trusted proxy carry many clients and are not counted by address. */
export function countConnections(
  limits: () => ConnectionLimits,
  isTrusted: (peer: string) => boolean,
): OpenConnections {
  const open = new Set<Socket>()
  const byClient = new Map<string, number>()
  return {
    get count() {
      return open.size
    },
    admit(socket, peer) {
      const { connections, connectionsPerClient, ipv6Prefix } = limits()
      if (open.size >= connections) return false
      const key = isTrusted(peer) ? undefined : clientKey(peer, ipv6Prefix)
      const count = key === undefined ? 0 : (byClient.get(key) ?? 0) + 1
      if (count > connectionsPerClient) return false
      open.add(socket)
      if (key !== undefined) byClient.set(key, count)
      socket.once('close', () => {
        open.delete(socket)
        if (key === undefined) return
        const left = (byClient.get(key) ?? 1) - 1
        if (left === 0) byClient.delete(key)
        else byClient.set(key, left)
      })
      return true
    },
    cutAll() {
      for (const socket of open) socket.destroy()
    },
  }
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
