import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { constants, Http2ServerRequest, Http2ServerResponse, type ServerHttp2Stream } from 'node:http2'

/** Fields of a connection, which HTTP/2 has none of (RFC 9113 8.2.2). */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

/** A request of HTTP/2 that knows how much of its body has come, and whether there is one. */
export class StreamRequest extends Http2ServerRequest {
  receivedBytes = 0

  override push(chunk: Buffer | null): boolean {
    if (chunk !== null) this.receivedBytes += chunk.length
    return super.push(chunk)
  }

  get hasBody(): boolean {
    return !this.stream.endAfterHeaders
  }

  // @ts-expect-error: an accessor in Node, and a property in its types
  override get complete(): boolean {
    return !this.hasBody || this.readableEnded || this.stream.destroyed
  }
}

/**
 * A response of HTTP/2 that is written as one of HTTP/1: with a list of fields, and fields of the connection dropped. A
 * cut is an error to the client, also after the head; what is left of a body is refused once the answer is sent.
 */
export class StreamResponse extends Http2ServerResponse<StreamRequest> {
  #closed = false
  #written = 0

  constructor(stream: ServerHttp2Stream) {
    super(stream)
    this.once('close', () => {
      this.#closed = true
    })
    // Node says nothing of a HEAD whose stream closes before it is answered.
    this.stream.once('close', () => {
      if (!this.#closed) this.emit('close')
    })
    // The end of the answer is sent first.
    this.stream.once('finish', () => setImmediate(() => this.#refuseRest()))
  }

  // @ts-expect-error: an accessor in Node, and a property in its types
  override get closed(): boolean {
    return this.#closed
  }

  /** Bytes of the body that the client has taken. */
  get sentBytes(): number {
    return this.#written - this.writableLength
  }

  /** Without the text of the status, which HTTP/2 does not have. */
  override writeHead(status: number, ...rest: readonly unknown[]): this {
    const fields = rest.at(-1) as OutgoingHttpHeaders | readonly string[] | undefined
    for (const [name, values] of isList(fields) ? grouped(fields) : Object.entries(fields ?? {})) {
      this.setHeader(name, values as string | readonly string[])
    }
    return super.writeHead(status)
  }

  override setHeader(name: string, value: number | string | readonly string[]): void {
    if (!OF_CONNECTIONS.has(name.toLowerCase())) super.setHeader(name, value)
  }

  // biome-ignore lint/suspicious/noExplicitAny: the arguments of a writable
  override write(chunk: any, ...rest: any[]): boolean {
    this.#written += chunk.length
    return super.write(chunk, ...rest)
  }

  override destroy(): this {
    this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return this
  }

  #refuseRest(): void {
    if (!this.stream.closed && !this.req.complete) this.stream.close(constants.NGHTTP2_NO_ERROR)
  }
}

function isList(fields: OutgoingHttpHeaders | readonly string[] | undefined): fields is readonly string[] {
  return Array.isArray(fields)
}

/** The values of each name, in the order in which the names came. */
function grouped(fields: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (let at = 0; at < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase()
    const known = values.get(name)
    if (known === undefined) values.set(name, [fields[at + 1] as string])
    else known.push(fields[at + 1] as string)
  }
  return values
}

/**
 * Adds the trailer section (name, value, name, value …) of an answer whose head is sent. A client of HTTP/1.1 is sent it where it says that it
 * takes one (RFC 9110 6.5.1, D293), and Node leaves it out where the answer is not in chunks.
 */
export function addTrailers(request: IncomingMessage, response: ServerResponse, fields: readonly string[]): void {
  const takesThem =
    request.httpVersionMajor !== 1 || /(?:^|[\s,])trailers(?:$|[\s,;])/i.test(String(request.headers['te'] ?? ''))
  if (takesThem) response.addTrailers(Object.fromEntries(grouped(fields)) as OutgoingHttpHeaders)
}

/** Writes a 103 of these fields (name, value, name, value …) before the head of an answer. */
export function hintsTo(response: ServerResponse, fields: readonly string[]): void {
  const answer: object = response
  if (answer instanceof StreamResponse) {
    if (answer.stream.closed || answer.stream.headersSent) return
    answer.stream.additionalHeaders({ ':status': 103, ...Object.fromEntries(grouped(fields)) } as OutgoingHttpHeaders)
    return
  }
  const lines = fields.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  // Node's own way takes few of the forms of Link. Whose turn it is has the socket, with nothing before it.
  response.socket?.write(`HTTP/1.1 103 Early Hints\r\n${lines.join('')}\r\n`, 'latin1')
}

/** Both as what the rest of the proxy reads and writes; Node's types do not say that they are. */
export function asHttp1(request: StreamRequest, response: StreamResponse): [IncomingMessage, ServerResponse] {
  return [request as unknown as IncomingMessage, response as unknown as ServerResponse]
}

/** How much of the bodies of an exchange has come and gone, where that is one of HTTP/2. */
export function streamOf(
  request: IncomingMessage,
  response: ServerResponse,
): { readonly receivedBytes: number; readonly sentBytes: number } | undefined {
  const [req, res]: readonly [object, object] = [request, response]
  if (!(req instanceof StreamRequest && res instanceof StreamResponse)) return undefined
  return { receivedBytes: req.receivedBytes, sentBytes: res.sentBytes }
}

/** Cuts the connection of a request, and with it all else that is asked on it. */
export function cutConnection(request: IncomingMessage): void {
  const received: object = request
  // The socket of a request of HTTP/2 is its stream's.
  if (received instanceof StreamRequest) received.stream.session?.destroy()
  request.socket.destroy()
}

/** Whether a request has a body; of HTTP/2 one without a length too. */
export function hasBody(request: IncomingMessage): boolean {
  const received: object = request
  if (received instanceof StreamRequest) return received.hasBody
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  return coding !== undefined || (length !== undefined && Number(length) > 0)
}
