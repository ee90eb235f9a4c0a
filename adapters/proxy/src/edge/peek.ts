import type { Socket } from 'node:net'

/** What a reader makes of the first bytes of a connection, and how many of them are not for the next one. */
export interface Read<T> {
  readonly value: T
  readonly used: number
}

/** Reads the bytes so far; `undefined` while more are needed, and throws where they are not what they must be. */
export type Reader<T> = (bytes: Buffer) => Read<T> | undefined

export interface PeekHooks<T> {
  /** The connection is as it was, but for the bytes that were used. */
  onRead(value: T): void
  /** The bytes are wrong, or came too late; not called for a client that left. */
  onRefused(): void
}

/** Reads the first bytes of a connection before it is handed on; `late` in milliseconds. */
export function peek<T>(socket: Socket, read: Reader<T>, late: number, { onRead, onRefused }: PeekHooks<T>): void {
  let seen: Buffer = Buffer.alloc(0)
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
    seen = seen.length === 0 ? bytes : Buffer.concat([seen, bytes])
    let result: Read<T> | undefined
    try {
      result = read(seen)
    } catch {
      refuse()
      return
    }
    if (result === undefined) return
    socket.pause()
    stop()
    if (result.used < seen.length) socket.unshift(seen.subarray(result.used))
    onRead(result.value)
  }
  socket.on('data', take).on('error', leave).on('end', leave).on('close', stop)
}
