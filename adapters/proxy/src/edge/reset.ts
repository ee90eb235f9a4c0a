import type { Socket } from 'node:net'

/** Node's handle of the socket; it is not documented. */
interface Handle {
  /** 0, or the number of an error. */
  getpeername?(out: object): number
}

/**
 * Whether a connection was reset, asked of the system: it knows no peer of one that was. Node does not see a reset where it reads nothing,
 * as while it writes a long answer of HTTP/2, and loses one that it meets as it writes session tickets: what is written after them then
 * waits for ever. False where Node has another handle, and for a Unix socket.
 */
export function isReset(socket: Socket): boolean {
  const handle = (socket as Socket & { readonly _handle?: Handle | null | undefined })._handle
  return handle?.getpeername !== undefined && handle.getpeername({}) !== 0
}
