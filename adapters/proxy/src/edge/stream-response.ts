import { EventEmitter } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { HOP_FIELDS } from '../fields/field-table.ts'
import type { StreamRequest } from './stream-request.ts'

/** Fields of a connection, which HTTP/2 has none of (RFC 9113 8.2.2). */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([...HOP_FIELDS, 'http2-settings'].filter((it) => it !== 'trailer'))

/**
 * The answer to a request of HTTP/2, written as one of HTTP/1: with a list of fields, and fields of the connection dropped. A
 * cut is an error to the client, also after the head; what is left of a body is refused once the answer is sent. It emits
 * `drain`, `finish` and `close` as a writable does.
 */
export class StreamResponse extends EventEmitter {
  readonly req: StreamRequest
  readonly writable = true
  statusCode = 200
  /** Its connection has other answers: it ends by a GOAWAY, and not with this one. */
  shouldKeepAlive = true
  closed = false
  writableEnded = false
  readonly #stream: ServerHttp2Stream
  readonly #headers = grouped([])
  #trailers = grouped([])
  #written = 0
  #isFull = false

  /** `onEnd` is called before the listeners of `close`. */
  constructor(request: StreamRequest, onEnd: (stream: ServerHttp2Stream) => void) {
    super()
    const { stream } = request
    this.req = request
    this.#stream = stream
    // A stream that fails has failed for its client; unheard, the error would end the process.
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

  /** Bytes that the client has not taken yet. */
  get writableLength(): number {
    return this.#stream.writableLength
  }

  /** Bytes of the body that the client has taken. */
  get sentBytes(): number {
    return this.#written - this.#stream.writableLength
  }

  /** The same of the body of the request: heads share a compressed connection, and are not counted. */
  get bytesRead(): number {
    return this.req.receivedBytes
  }

  get bytesWritten(): number {
    return this.sentBytes
  }

  /** Sets a field of an answer that is begun without a list. */
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

  /** Without the text of the status, which HTTP/2 does not have. Throws where Node does not take a field. */
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

  /** Writes a 103 of these fields. */
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
    // An answer without a body ends with its head: a client of gRPC reads its status there alone (Trailers-Only).
    const last = typeof chunk === 'function' || chunk?.length === 0 ? undefined : chunk
    if (!this.headersSent) this.#begin(this.#headers, last === undefined)
    if (last !== undefined) this.#written += Buffer.byteLength(last)
    this.#stream.end(last)
    // The end of the answer is sent first.
    if (this.req.hasBody) this.#onceSent(() => setImmediate(() => this.#refuseRest()))
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
    // An answer that has a length has no trailers: HTTP/1.1 has them behind chunks alone.
    const mayTrail = !isAll && headers['content-length'] === undefined
    this.#stream.respond(headers, { endStream: isAll, waitForTrailers: mayTrail })
    if (mayTrail) this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(this.#trailers))
  }

  #inform(headers: OutgoingHttpHeaders): void {
    if (!this.#isGone && !this.headersSent) this.#stream.additionalHeaders(headers)
  }

  #onceSent(go: () => void): void {
    // The answer to a HEAD has ended before it began.
    if (this.#stream.writableFinished) go()
    else this.#stream.once('finish', go)
  }

  #refuseRest(): void {
    if (this.#isGone || this.req.complete) return
    this.#stream.close(constants.NGHTTP2_NO_ERROR)
    // Bytes that came already are read by nobody, and the stream would wait for that.
    this.#stream.resume()
  }
}

const CUT = new Error('cut')

/** Ends a stream with an error to its client; not by `close`, which first ends it as if it were whole. */
export function cutStream(stream: ServerHttp2Stream): void {
  stream.destroy(CUT)
}

/** Whether we have ended it: to Node it is aborted then as by its client. */
export function isCut(stream: ServerHttp2Stream): boolean {
  return stream.errored === CUT
}

function ignore(): void {}

/**
 * Fields by name in lower case, without those of a connection; several of one name are a list. The names are those of strangers: the object
 * has none of its own.
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
