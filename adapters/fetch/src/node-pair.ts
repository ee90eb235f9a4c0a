import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiResponse } from '@sallyport/api'

/** Origin of a request, as far as the runtime says. */
export interface Place {
  /** Address of the socket's other end, never of a header; absent: nothing is known of the network. */
  readonly address?: string | undefined
}

/** An answer that the runtime sends: here are its headers, its status, and that it ended. */
export class Answer extends ServerResponse {
  private ended = false

  /** Notes the status, once: what is observed and counted ends here. */
  finish(status: number): void {
    if (this.ended) return
    this.statusCode = status
    this.ended = true
    Object.defineProperty(this, 'headersSent', { value: true })
    this.emit('close')
  }
}

/** On a web request: how Node would show it. Known to every copy of this package in a process. */
const PAIR: unique symbol = Symbol.for('sallyport.node-pair') as never

/** A web request as Node would show it, and where its answer is noted (D117). */
export interface NodePair {
  readonly req: IncomingMessage
  readonly res: Answer
}

/** At every call the same. What a web request does not have is absent: its HTTP version, and the order and case of names. */
export function nodePair(request: Request & { [PAIR]?: NodePair }, place: Place): NodePair {
  const known = request[PAIR]
  if (known !== undefined) return known
  const pair = createPair(request, place)
  request[PAIR] = pair
  return pair
}

function createPair(request: Request, { address }: Place): NodePair {
  const { protocol, host, pathname, search } = new URL(request.url)
  const socket = { remoteAddress: address, encrypted: protocol === 'https:' } as unknown as Socket
  const req = new IncomingMessage(socket)
  req.method = request.method
  req.url = pathname + search
  req.httpVersion = ''
  req.httpVersionMajor = 0
  req.complete = true
  const headers: Record<string, string> = { host }
  for (const [name, value] of request.headers) {
    headers[name] = value
    req.rawHeaders.push(written(name), value)
  }
  if (!request.headers.has('host')) req.rawHeaders.push('Host', host)
  req.headers = headers
  req._read = reading(req, request)
  return { req, res: new Answer(req) }
}

/** A web request has every name in lower case, and of a browser that would be a contradiction. */
function written(name: string): string {
  return name === 'user-agent' ? 'User-Agent' : name
}

/** Nothing of a body is read before somebody asks for it, and no more than is taken. */
function reading(req: IncomingMessage, request: Request): () => void {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const pump = async (from: ReadableStreamDefaultReader<Uint8Array>): Promise<void> => {
    for (;;) {
      const { done, value } = await from.read()
      // Node's own requests are filled by a parser, and are not asked again after the first part.
      if (!req.push(done ? null : value)) return
    }
  }
  return () => {
    if (request.body === null || request.bodyUsed) {
      req.push(null)
      return
    }
    reader ??= request.body.getReader()
    pump(reader).catch((error: Error) => void req.destroy(error))
  }
}

/** A response of ours to a request of this method as the web has it. */
export function webResponse({ status, headers, body }: ApiResponse, method: string): Response {
  if (status === 204 || status === 304) return new Response(null, { status, headers })
  if (method === 'HEAD') {
    const length = typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    return new Response(null, { status, headers: { ...headers, ...length } })
  }
  const sent = typeof body === 'string' ? body : ReadableStream.from(body).pipeThrough(new TextEncoderStream())
  return new Response(sent, { status, headers })
}

/** Fields that the web keeps to the runtime and Node's runtimes leave out of an answer: whether the connection ends. */
export function closeConnection({ headers }: ApiResponse, res: ServerResponse): void {
  const { connection } = headers
  if (connection !== undefined && !res.headersSent) res.setHeader('connection', connection)
}

/** A response with the headers that were set for it; one that cannot be changed is copied. */
export function withHeaders(response: Response, res: ServerResponse): Response {
  const set = Object.entries(res.getHeaders())
  try {
    for (const [name, value] of set) response.headers.set(name, String(value))
    return response
  } catch {
    const { body, status, statusText, headers } = response
    const copy = new Response(body, { status, statusText, headers })
    for (const [name, value] of set) copy.headers.set(name, String(value))
    return copy
  }
}
