import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/**
 * The head of an HTTP/2 request, with the names that Node uses for HTTP/1. Node's own compatible request adds a second stream and a proxy
 * object for its socket, which cost most of a request there.
 */
export class StreamRequest {
  readonly httpVersion = '2.0'
  readonly httpVersionMajor = 2
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: string[]
  /** The socket of the connection, which belongs to other requests too. */
  readonly socket: TLSSocket
  readonly method: string | undefined
  url: string | undefined
  /** Counts the bytes of the body that were read. */
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

  /** Reports whether there is a body, with or without a length. */
  get hasBody(): boolean {
    return !this.stream.endAfterHeaders
  }

  /** Reports whether nothing more of the request comes. */
  get complete(): boolean {
    return this.stream.endAfterHeaders || this.stream.readableEnded || this.stream.destroyed
  }

  /** Returns the body; reading this property makes it flow. */
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
