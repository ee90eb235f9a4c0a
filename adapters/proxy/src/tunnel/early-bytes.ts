import type { Socket } from 'node:net'
import { CollectedBytes } from '../edge/first-bytes.ts'

/** Bytes that a client may send before its handshake is answered; a WebSocket client sends nothing (RFC 6455 4.1). */
const MAX_EARLY = 65_536

/**
 * Reads a client's socket while its handshake is unanswered, because the end of a socket that nobody reads is not seen.
 * A client that ends has left, also where it still listens; it is cut, and so is one that sends too much. The returned
 * function ends the reading and puts what was read back, `head` first.
 */
export function readEarly(socket: Socket, head: Buffer): () => void {
  const early = new CollectedBytes()
  early.push(head)
  const keep = (bytes: Buffer): void => {
    early.push(bytes)
    if (early.length > MAX_EARLY) socket.destroy()
  }
  const leave = (): void => void socket.destroy()
  socket.on('data', keep).on('end', leave)
  if (socket.readableEnded) leave()

  return () => {
    socket.pause().off('data', keep).off('end', leave)
    if (early.length > 0) socket.unshift(early.all)
  }
}
