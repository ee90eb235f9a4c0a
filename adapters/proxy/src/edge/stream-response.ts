import { EventEmitter } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { HOP_FIELDS } from '../fields/field-table.ts'
import type { StreamRequest } from './stream-request.ts'

/** Fields of a connection; HTTP/2 has none (RFC 9113 8.2.2). */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([...HOP_FIELDS, 'http2-settings'].filter((it) => it !== 'trailer'))

/**
 * The answer to an HTTP/2 request, written like an HTTP/1 answer: with a list of fields, and without fields of the connection. A cut is an
 * error to the client, also after the head; once the answer is sent, the rest of a body is refused. It emits `drain`, `finish` and `close`
 * as a writable does.
 */
export class StreamResponse extends EventEmitter {
  readonly req: StreamRequest
  readonly writable = true
  statusCode = 200
  /** Node ends a connection with its answer where this is false; an HTTP/2 connection has other answers and ends by a GOAWAY. */
  shouldKeepAlive = true
  closed = false
  writableEnded = false
  readonly #stream: ServerHttp2Stream
  readonly #headers = grouped([])
  #trailers = grouped([])
  #written = 0
  #isFull = false

  /** Calls `onEnd` before the listeners of `close`. */
  constructor(request: StreamRequest, onEnd: (stream: ServerHttp2Stream) => void) {
    super()
    const { stream } = request
    this.req = request
    this.#stream = stream
    // A stream that fails has failed for its client; without a listener the error would end the process.
    stream.on('error', ignore)
    stream.once('close', () => {
      onEnd(stream)
      this.closed = true
      if (this.writableEnded) this.emit('finish')
      this.emit('close')
    })
  }

  get headersSent(): boolean {
    return this.#stream.headersSent
  }

  get destroyed(): boolean {
    return this.#stream.destroyed
  }

  /** Counts the bytes that the client has not taken yet. */
  get writableLength(): number {
    return this.#stream.writableLength
  }

  /** Counts the bytes of the request's body: heads share a compressed connection, and are not counted. */
  get bytesRead(): number {
    return this.req.receivedBytes
  }

  /** Counts the bytes of the body that the client has taken. */
  get bytesWritten(): number {
    return this.#written - this.#stream.writableLength
  }

  /** Sets a field of an answer that begins without a list. */
  setHeader(name: string, value: number | string): void {
    const key = name.toLowerCase()
    if (!OF_CONNECTIONS.has(key)) this.#headers[key] = value
  }

  removeHeader(name: string): void {
    delete this.#headers[name.toLowerCase()]
  }

  getHeaderNames(): string[] {
    return Object.keys(this.#headers)
  }

  /** Writes the head without a status text, which HTTP/2 does not have. Throws where Node rejects a field. */
  writeHead(status: number, fields: readonly string[]): void {
    this.statusCode = status
    this.#begin(grouped(fields))
  }

  flushHeaders(): void {
    if (!this.headersSent) this.#begin(this.#headers)
  }

  /** Writes `100 Continue`. */
  writeContinue(): void {
    this.#inform({ ':status': 100 })
  }

  /** Writes a 103 with these fields. */
  writeHints(fields: readonly string[]): void {
    this.#inform({ ':status': 103, ...grouped(fields) })
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.#isGone || this.writableEnded) return false
    if (!this.headersSent) this.#begin(this.#headers)
    this.#written += Buffer.byteLength(chunk)
    const more = this.#stream.write(chunk)
    if (!more && !this.#isFull) {
      this.#isFull = true
      this.#stream.once('drain', () => {
        this.#isFull = false
        this.emit('drain')
      })
    }
    return more
  }

  /** Adds trailers to an answer without a length, before its end. */
  addTrailers(fields: readonly string[]): void {
    this.#trailers = grouped(fields)
  }

  end(chunk?: Uint8Array | string | (() => void)): this {
    if (this.writableEnded) return this
    this.writableEnded = true
    if (this.#isGone) return this
    // An answer without a body ends with its head: a gRPC client reads its status only there (Trailers-Only).
    const last = typeof chunk === 'function' || chunk?.length === 0 ? undefined : chunk
    if (!this.headersSent) this.#begin(this.#headers, last === undefined)
    if (last !== undefined) this.#written += Buffer.byteLength(last)
    this.#stream.end(last)
    if (!this.req.hasBody) return this
    // The end of the answer goes out first.
    const refuseSoon = (): unknown => setImmediate(() => this.#refuseRest())
    // The answer to a HEAD has ended before it began.
    if (this.#stream.writableFinished) refuseSoon()
    else this.#stream.once('finish', refuseSoon)
    return this
  }

  destroy(): this {
    cutStream(this.#stream)
    return this
  }

  get #isGone(): boolean {
    return this.#stream.closed || this.#stream.destroyed
  }

  #begin(headers: OutgoingHttpHeaders, isAll = false): void {
    if (this.#isGone) return
    headers[':status'] = this.statusCode
    // An answer with a length has no trailers: HTTP/1.1 has them only after chunks.
    const mayTrail = !isAll && headers['content-length'] === undefined
    this.#stream.respond(headers, { endStream: isAll, waitForTrailers: mayTrail })
    if (mayTrail) this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(this.#trailers))
  }

  #inform(headers: OutgoingHttpHeaders): void {
    if (!this.#isGone && !this.headersSent) this.#stream.additionalHeaders(headers)
  }

  #refuseRest(): void {
    if (this.#isGone || this.req.complete) return
    this.#stream.close(constants.NGHTTP2_NO_ERROR)
    // No reader takes the bytes that came already, and the stream would wait for one.
    this.#stream.resume()
  }
}

const CUT = new Error('cut')

/** Ends a stream with an error to its client; `close` would first end the stream as if it were whole. */
export function cutStream(stream: ServerHttp2Stream): void {
  stream.destroy(CUT)
}

/** Reports whether we ended a stream: Node then calls it aborted, as if by its client. */
export function isCut(stream: ServerHttp2Stream): boolean {
  return stream.errored === CUT
}

function ignore(): void {}

/**
 * Groups fields by name in lower case, without fields of a connection; repeated names become a list. Clients choose the names, so the
 * object has no prototype.
 */
export function grouped(fields: readonly string[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = Object.create(null)
  for (let at = 0; at < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase()
    const value = fields[at + 1] as string
    const known = headers[name]
    if (OF_CONNECTIONS.has(name)) continue
    if (known === undefined) headers[name] = value
    else if (Array.isArray(known)) known.push(value)
    else headers[name] = [String(known), value]
  }
  return headers
}
