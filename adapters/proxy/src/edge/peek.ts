import type { Socket } from 'node:net'
import { type Reader, readFirstBytes } from './first-bytes.ts'

export interface PeekHooks<T> {
  /** Takes the value; the connection is unchanged but for the used bytes. */
  onRead(value: T): void
  /** Called when the bytes are wrong or come too late; not called for a client that left. */
  onRefused(): void
}

/** Reads the first bytes of a connection before the connection is handed on; `late` is in milliseconds. */
export function peek<T>(socket: Socket, read: Reader<T>, late: number, { onRead, onRefused }: PeekHooks<T>): void {
  const push = readFirstBytes(read)
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
    let result: ReturnType<typeof push>
    try {
      result = push(bytes)
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
  // A connection that was read before is paused, with its unused bytes.
  socket.resume()
}
