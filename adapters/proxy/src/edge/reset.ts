import type { Socket } from 'node:net'

/** The part of Node's socket handle that is used here; Node does not document it. */
interface Handle {
  /** Returns 0, or the number of an error. */
  getpeername?(out: object): number
}

/**
 * Reports whether a connection was reset: the system then knows no peer. Node misses a reset while it reads nothing, as while it writes a
 * long HTTP/2 answer, and loses a reset that it meets while it writes session tickets: later writes then wait for ever. False where Node
 * has another handle, and for a Unix socket.
 */
export function isReset(socket: Socket): boolean {
  const handle = (socket as Socket & { readonly _handle?: Handle | null | undefined })._handle
  return handle?.getpeername !== undefined && handle.getpeername({}) !== 0
}
