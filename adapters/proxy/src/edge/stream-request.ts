import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/**
 * The head of a request of HTTP/2, with the names that Node gives to one of HTTP/1. Node's own compatible request is a second stream over
 * that of the connection, and a proxy object for its socket: most of what a request costs there.
 */
export class StreamRequest {
  readonly httpVersion = '2.0'
  readonly httpVersionMajor = 2
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: string[]
  /** That of the connection, which other requests share. */
  readonly socket: TLSSocket
  readonly method: string | undefined
  url: string | undefined
  /** Bytes of the body that were read. */
  receivedBytes = 0
  #isRead = false

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[], socket: TLSSocket) {
    this.stream = stream
    this.headers = headers
    this.rawHeaders = rawHeaders
    this.socket = socket
    this.method = headers[':method']
    this.url = headers[':path']
  }

  /** Whether there is a body; one without a length too. */
  get hasBody(): boolean {
    return !this.stream.endAfterHeaders
  }

  /** Whether nothing more of it comes. */
  get complete(): boolean {
    return this.stream.endAfterHeaders || this.stream.readableEnded || this.stream.destroyed
  }

  /** The body; it flows once this is asked for. */
  get body(): Readable {
    if (!this.#isRead) {
      this.#isRead = true
      this.stream.on('data', (chunk: Buffer) => {
        this.receivedBytes += chunk.length
      })
    }
    return this.stream
  }
}
