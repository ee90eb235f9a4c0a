import type { Socket } from 'node:net'

/**
 * Collects bytes piece by piece. Each byte is copied twice at most on average, and memory is at most twice what came, however small the
 * pieces are.
 */
export class CollectedBytes {
  #bytes: Buffer = Buffer.alloc(0)
  length = 0

  /** Returns all bytes so far; later pieces do not change the result. */
  get all(): Buffer {
    return this.#bytes.subarray(0, this.length)
  }

  push(piece: Buffer): void {
    const length = this.length + piece.length
    if (this.length === 0) {
      // Nearly always a single piece comes, which needs no copy.
      this.#bytes = piece
    } else {
      if (length > this.#bytes.length) this.#grow(length)
      this.#bytes.set(piece, this.length)
    }
    this.length = length
  }

  #grow(length: number): void {
    const larger = Buffer.alloc(Math.max(length, 2 * this.#bytes.length))
    larger.set(this.all)
    this.#bytes = larger
  }
}

/** The value that a reader makes of the first bytes of a connection, and the number of bytes that it used. */
export interface Read<T> {
  readonly value: T
  readonly used: number
}

/**
 * Reads the bytes so far. A number says how many bytes the reader needs before it can say more; a reader asks for one more byte at a time
 * only for a few bytes. It throws where the bytes are wrong.
 */
export type Reader<T> = (bytes: Buffer) => Read<T> | number

/**
 * Gives the first bytes of one connection to a reader as they come: the work is linear in them. The returned function returns the value and
 * the unused bytes once the reader has enough; it throws as the reader does.
 */
export function readFirstBytes<T>(read: Reader<T>) {
  const seen = new CollectedBytes()
  let needed = 1
  return (bytes: Buffer): { readonly value: T; readonly rest: Buffer } | undefined => {
    seen.push(bytes)
    if (seen.length < needed) return undefined
    const result = read(seen.all)
    if (typeof result !== 'number') return { value: result.value, rest: seen.all.subarray(result.used) }
    needed = result
    return undefined
  }
}

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
