import type { Socket } from 'node:net'
import { FirstBytes, type Reader } from './first-bytes.ts'

export interface PeekHooks<T> {
  /** The connection is as it was, but for the bytes that were used. */
  onRead(value: T): void
  /** The bytes are wrong, or came too late; not called for a client that left. */
  onRefused(): void
}

/** Reads the first bytes of a connection before it is handed on; `late` in milliseconds. */
export function peek<T>(socket: Socket, read: Reader<T>, late: number, { onRead, onRefused }: PeekHooks<T>): void {
  const first = new FirstBytes(read)
  const clock = setTimeout(() => refuse(), late)
  const stop = (): void => {
    clearTimeout(clock)
    socket.off('data', take).off('error', leave).off('end', leave).off('close', stop)
  }
  const refuse = (): void => {
    stop()
    onRefused()
  }
  const leave = (): void => {
    stop()
    socket.destroy()
  }
  function take(bytes: Buffer): void {
    let result: ReturnType<typeof first.push>
    try {
      result = first.push(bytes)
    } catch {
      refuse()
      return
    }
    if (result === undefined) return
    socket.pause()
    stop()
    if (result.rest.length > 0) socket.unshift(result.rest)
    onRead(result.value)
  }
  socket.on('data', take).on('error', leave).on('end', leave).on('close', stop)
  // One that was read before is paused, with what is not used yet.
  socket.resume()
}
