import type { Socket } from 'node:net'
import { clientKey, WIDE_FACTOR } from '@sallyport/core'
import type { Limits } from '@sallyport/engine/limits'
import { Counts } from '../bounds/slots.ts'

export type OpenConnections = ReturnType<typeof countConnections>

/**
 * Counts connections. One address, or one /64 of IPv6, may have `connectionsPerClient`. A trusted proxy's connections carry many clients and
 * are not counted by address.
 */
export function countConnections(
  limits: () => Pick<Limits, 'connections' | 'connectionsPerClient'>,
  isTrusted: (peer: string) => boolean,
) {
  const open = new Set<Socket>()
  const byClient = new Counts()
  return {
    get count(): number {
      return open.size
    },
    /** Counts a connection until it closes; returns false, without counting, where the limit is reached. */
    accept(socket: Socket): boolean {
      if (open.size >= limits().connections) return false
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      return true
    },
    /** Also counts an accepted connection for its peer; returns false where the peer has too many. */
    admit(socket: Socket, peer: string): boolean {
      if (isTrusted(peer)) return true
      const { connectionsPerClient } = limits()
      const { narrow, wide } = clientKey(peer)
      const bounds: (readonly [key: string, most: number])[] = [[narrow, connectionsPerClient]]
      // A site can connect from 65,536 networks of its /48, so the /48 has a bound too.
      if (wide !== undefined) bounds.push([wide, connectionsPerClient * WIDE_FACTOR])
      if (bounds.some(([key, most]) => byClient.get(key) >= most)) return false
      for (const [key] of bounds) byClient.add(key, 1)
      socket.once('close', () => bounds.forEach(([key]) => void byClient.add(key, -1)))
      return true
    },
    cutAll(): void {
      for (const socket of open) socket.destroy()
    },
  }
}
