import type { Writable } from '@sallyport/core'
import type { ReceivedHead } from './node-head.ts'
import type { RequestHost } from './request-host.ts'

/** Keys the JA4 of the client on a connection. Every copy of this package in a process knows the symbol. */
export const JA4: unique symbol = Symbol.for('sallyport.ja4') as never

/** Records the JA4 of a connection, for its requests. */
export function noteJa4(connection: object & { [JA4]?: string | undefined }, ja4: string): void {
  connection[JA4] = ja4
}

/**
 * Writes the JA4 of the client into a head; `own` comes from its connection. The connection of a trusted proxy says nothing about the
 * client, whose JA4 the proxy may name.
 */
export function writeJa4(host: RequestHost, head: Writable<ReceivedHead>, own?: string): void {
  if (own !== undefined && !host.isTrusted?.(head.peer)) {
    head.ja4 = own
    return
  }
  const named = host.namedJa4?.(head)
  if (named === undefined) return
  head.ja4 = named.ja4
  head.ja4Header = named.header
}
