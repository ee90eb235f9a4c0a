import type { Socket } from 'node:net'
import { clientKey, WIDE_FACTOR } from '@sallyport/core'

export interface ConnectionLimits {
  readonly connections: number
  /** Limits the connections of one address, or of one /64 of IPv6; the /48 around it may have 16 times as many. */
  readonly connectionsPerClient: number
}

export interface OpenConnections {
  readonly count: number
  /** Counts a connection until it closes; returns false, without counting, where the limit is reached. */
  accept(socket: Socket): boolean
  /** Also counts an accepted connection for its peer; returns false where the peer has too many. */
  admit(socket: Socket, peer: string): boolean
  cutAll(): void
}

/** Counts connections. A trusted proxy's connections carry many clients and are not counted by address. */
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
      const { connectionsPerClient } = limits()
      const { narrow, wide } = clientKey(peer)
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
