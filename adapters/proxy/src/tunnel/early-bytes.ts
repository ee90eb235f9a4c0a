import type { Socket } from 'node:net'
import { CollectedBytes } from '../edge/first-bytes.ts'

/** Limits the bytes before the answer to a handshake; a WebSocket client sends none (RFC 6455 4.1). */
const MAX_EARLY = 65_536

/**
 * Reads a client's socket while its handshake is unanswered, because an unread socket never shows its end. A client that ends has left,
 * even if it still listens: the proxy cuts it, and a client that sends too much. The returned function stops the reading and puts
 * the bytes back, `head` first.
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
