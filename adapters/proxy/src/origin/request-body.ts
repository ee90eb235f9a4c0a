import { Readable } from 'node:stream'
import type { Limits } from '@sallyport/engine/limits'
import { Counts, findLevel, hasRoom } from '../bounds/slots.ts'
import { isBroken, readableBody } from '../edge/client-messages.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** A body up to this length is held until it is complete; of a larger body as many bytes are held at a time. */
const WHOLE_BYTES = 65_536

/** Counts bytes of bodies that are held, for all clients and for each. */
export class HeldBytes {
  readonly #byClient = new Counts()
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  add(client: string, bytes: number): void {
    this.#bytes += bytes
    this.#byClient.add(client, bytes)
  }

  /** Reports whether too much is held for a client of this level: the longest body that is held completely counts as one. */
  isOver(client: string): boolean {
    const level = findLevel((this.#byClient.get(client) - 1) / WHOLE_BYTES)
    return !hasRoom(level, this.#bytes, this.#limit + 1)
  }
}

export interface BodyHooks {
  /** Called with the first bytes, or with all where the body is held until it is complete. */
  onReady(): void
  /** Called once; nothing is read after it. */
  onFault(cause: 'body_bytes' | 'buffered_bytes'): void
}

/**
 * Streams the body of a request to the origin, read no faster than the origin takes it. It is a separate stream, because undici destroys a
 * body that it cannot send, and a destroyed `IncomingMessage` takes the client's connection with it.
 */
export class RequestBody extends Readable {
  readonly #body: Readable
  readonly #held: HeldBytes
  readonly #client: string
  readonly #stop: () => void
  #received = 0
  #heldHere = 0
  #full = false
  #ended = false

  /** Takes the whole body from the exchange where a phase has read it. */
  constructor(
    exchange: Exchange,
    held: HeldBytes,
    { bodyBytes = Number.POSITIVE_INFINITY }: Pick<Limits, 'bodyBytes'>,
    { onReady, onFault }: BodyHooks,
  ) {
    super({ highWaterMark: WHOLE_BYTES })
    const { request, body: whole, client } = exchange
    const body = readableBody(request)
    this.#body = body
    this.#held = held
    this.#client = client
    const untilWhole = whole !== undefined || Number(request.headers['content-length'] ?? Number.NaN) <= WHOLE_BYTES
    let ready = false
    const becomeReady = (): void => {
      if (ready) return
      ready = true
      onReady()
    }
    const fault = (cause: 'body_bytes' | 'buffered_bytes'): void => {
      this.#stop()
      body.pause()
      onFault(cause)
    }
    const take = (chunk: Buffer): void => {
      this.#received += chunk.length
      if (this.#received > bodyBytes) {
        fault('body_bytes')
        return
      }
      this.#full = !this.push(chunk)
      this.#count(this.readableLength)
      if (!ready && held.isOver(client)) {
        fault('buffered_bytes')
        return
      }
      if (untilWhole) return
      if (this.#full) body.pause()
      becomeReady()
    }
    const end = (): void => {
      if (isBroken(request)) return
      this.#ended = true
      this.push(null)
      becomeReady()
    }
    // undici destroys the stream with an error that the relay gets too.
    this.on('error', () => {})
    const onData = (chunk: Buffer): void => exchange.guard(() => take(chunk))
    const onEnd = (): void => exchange.guard(end)
    body.on('data', onData).once('end', onEnd)
    this.#stop = () => void body.off('data', onData).off('end', onEnd)
    if (whole === undefined) return
    process.nextTick(() =>
      exchange.guard(() => {
        take(Buffer.from(whole))
        end()
      }),
    )
  }

  /** Reports whether the body is complete, and none of it was taken. */
  get isWhole(): boolean {
    return this.#ended && this.sent === 0
  }

  /** Reports whether the origin takes less than the client has sent. */
  get backedUp(): boolean {
    return this.#full
  }

  /** Counts the bytes that the origin took. */
  get sent(): number {
    return this.#received - this.readableLength
  }

  override _read(): void {
    this.#count(this.readableLength)
    if (!this.#full) return
    this.#full = false
    this.#body.resume()
  }

  /** Discards later bytes, so that the connection can be used again. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stop()
    this.#body.resume()
    this.#count(0)
    done(error)
  }

  #count(bytes: number): void {
    this.#held.add(this.#client, bytes - this.#heldHere)
    this.#heldHere = bytes
  }
}
