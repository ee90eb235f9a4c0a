/**
 * Bytes that are collected piece by piece. Each is copied twice at most on average, and memory is at most twice what
 * came, however small the pieces are.
 */
export class CollectedBytes {
  #bytes: Buffer = Buffer.alloc(0)
  length = 0

  /** All so far; what is pushed later does not change it. */
  get all(): Buffer {
    return this.#bytes.subarray(0, this.length)
  }

  push(piece: Buffer): void {
    const length = this.length + piece.length
    if (this.length === 0) {
      // Nearly always it is the only one, and is not copied.
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

/** The value that a reader makes of the first bytes of a connection, and how many of them are not for the next reader. */
export interface Read<T> {
  readonly value: T
  readonly used: number
}

/**
 * Reads the bytes so far. A number is how many there must be before it can say more; a reader that asks for one more
 * byte each time does so for few bytes only. It throws where the bytes are not what they must be.
 */
export type Reader<T> = (bytes: Buffer) => Read<T> | number

/** The first bytes of one connection, given to a reader as they come: the work is linear in them. */
export class FirstBytes<T> {
  readonly #read: Reader<T>
  readonly #seen = new CollectedBytes()
  #needed = 1

  constructor(read: Reader<T>) {
    this.#read = read
  }

  /** Returns what was read and the bytes that are not used, once the reader has all; throws as it does. */
  push(bytes: Buffer): { readonly value: T; readonly rest: Buffer } | undefined {
    this.#seen.push(bytes)
    if (this.#seen.length < this.#needed) return undefined
    const seen = this.#seen.all
    const result = this.#read(seen)
    if (typeof result === 'number') {
      this.#needed = result
      return undefined
    }
    return { value: result.value, rest: seen.subarray(result.used) }
  }
}
