import type { Socket } from 'node:net'
import { clientKey, WIDE_FACTOR } from '@sallyport/core'

/** How many connections there may be at one time. */
export interface ConnectionLimits {
  /** Connections of all clients. */
  readonly connections: number
  /** Connections of one address, or of one network of `ipv6Prefix` bits where that is IPv6; the /48 around it has 16 times as many. */
  readonly connectionsPerClient: number
  /** Bits of an IPv6 address that count as one client. */
  readonly ipv6Prefix: number
}

/** Connections that are open. */
export interface OpenConnections {
  readonly count: number
  /** Counts one until it closes; false, and not counted, where it is one too many. */
  accept(socket: Socket): boolean
  /** Counts an accepted one for its peer as well; false where that has too many. */
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
    accept(socket) {
      if (open.size >= limits().connections) return false
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      return true
    },
    admit(socket, peer) {
      if (isTrusted(peer)) return true
      const { connectionsPerClient, ipv6Prefix } = limits()
      const { narrow, wide } = clientKey(peer, ipv6Prefix)
      const bounds: (readonly [key: string, most: number])[] = [[narrow, connectionsPerClient]]
      // A site can connect from 65,536 networks of its /48, so the /48 has a bound too.
      if (wide !== undefined) bounds.push([wide, connectionsPerClient * WIDE_FACTOR])
      if (bounds.some(([key, most]) => (byClient.get(key) ?? 0) >= most)) return false
      for (const [key] of bounds) byClient.set(key, (byClient.get(key) ?? 0) + 1)
      socket.once('close', () => {
        for (const [key] of bounds) {
          const left = (byClient.get(key) ?? 1) - 1
          if (left === 0) byClient.delete(key)
          else byClient.set(key, left)
        }
      })
      return true
    },
    cutAll() {
      for (const socket of open) socket.destroy()
    },
  }
}
