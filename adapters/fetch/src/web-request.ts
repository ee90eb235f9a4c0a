import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { Writable } from '@sallyport/core'
import type { McpBody } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import {
  declaresTooMuch,
  Exchange,
  type HostResponse,
  ID_HEADER,
  isForCaches,
  isWhole,
  newId,
  Observation,
  parsedBody,
  privateControl,
  type ReceivedHead,
  type Receiver,
  type RequestHost,
  readAhead,
  readHead,
  readJson,
  writeJa4,
} from '@sallyport/node/internal'

/** Says where a request comes from, as far as the runtime knows. */
export interface RequestOrigin {
  /** The address of the socket's other end, never of a header; absent: the network is unknown. */
  readonly address?: string | undefined
  /** Returns the body that the host has read before; absent: no code has. */
  readonly parsed?: (() => unknown) | undefined
}

/** Keys the answer on a web request. Every copy of this package in a process knows the symbol. */
const ANSWER: unique symbol = Symbol.for('sallyport.web-answer') as never

/** A web request and its answer, which the runtime sends: this object records its headers, its status and its end. */
export class WebAnswer extends EventEmitter implements HostResponse {
  readonly request: Request
  readonly address: string | undefined
  readonly parsed: RequestOrigin['parsed']
  /** Set once the request has an id. */
  observation: Observation | undefined
  headersSent = false
  statusCode = 0
  #sent: Headers | undefined
  #isPrivate = false
  readonly #headers = new Map<string, string>()
  readonly #added: (readonly [string, string])[] = []

  constructor(request: Request, { address, parsed }: RequestOrigin) {
    super()
    this.request = request
    this.address = address
    this.parsed = parsed
  }

  get closed(): boolean {
    return this.headersSent
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value)
  }

  /** Returns a header of the answer once the answer is finished. */
  getHeader(name: string): string | readonly string[] | undefined {
    if (name === 'set-cookie') return this.#sent?.getSetCookie()
    return this.#sent?.get(name) ?? undefined
  }

  appendHeader(name: string, value: string): void {
    this.#added.push([name, value])
  }

  removeHeader(name: string): void {
    this.#headers.delete(name)
  }

  keepPrivate(): void {
    this.#isPrivate = true
  }

  /** Returns the response with our headers, and records its status once: observation and counting end here. */
  finish(response: Response): Response {
    if (!this.headersSent) {
      this.statusCode = response.status
      this.#sent = response.headers
      this.headersSent = true
      this.emit('close')
    }
    // Applications send one response to many requests where it has no body to use up; our headers belong to one visitor.
    const own = response.body === null && response.status >= 200 ? new Response(null, response) : response
    try {
      if (this.#isPrivate) {
        own.headers.set('cache-control', privateControl(own.headers.get('cache-control') ?? ''))
        for (const name of [...own.headers.keys()].filter(isForCaches)) own.headers.delete(name)
      }
      for (const [name, value] of this.#headers) own.headers.set(name, value)
      // Each header is added once, however often an answer is finished.
      for (const [name, value] of this.#added.splice(0)) own.headers.append(name, value)
      return own
    } catch {
      // The headers of a response that `fetch` returned cannot change: the response is copied.
      return this.finish(new Response(response.body, response))
    }
  }
}

/** Returns the answer to a request, the same at every call. */
export function answerTo(request: Request & { [ANSWER]?: WebAnswer | undefined }, place: RequestOrigin): WebAnswer {
  request[ANSWER] ??= new WebAnswer(request, place)
  return request[ANSWER]
}

/** An exchange which carries a web request. */
class WebExchange extends Exchange {
  readonly #answer: WebAnswer

  constructor(host: RequestHost, answer: WebAnswer) {
    super()
    this.host = host
    this.request = answer.request
    this.response = answer
    this.ending = answer
    this.#answer = answer
  }

  override readBody(): Promise<McpBody> {
    return readWebBody(this.#answer)
  }
}

/** Receives web requests, which cannot be marked and do not show the HTTP version, nor the order and case of names. */
export const WEB: Receiver<WebAnswer> = { receive, mark() {} }

function receive(host: RequestHost, response: WebAnswer): Exchange {
  const { request, address: peer = '' } = response
  response.observation ??= new Observation(newId(host, response.address, Object.fromEntries(request.headers)))
  const { observation } = response
  const scheme = request.url.startsWith('https:') ? 'https' : 'http'
  const shown = { method: request.method, target: readTarget(request), scheme, fields: listFields(request) } as const
  const head: Writable<ReceivedHead> = { id: observation.id, peer, httpVersion: '', ...shown }
  writeJa4(host, head)
  const facts = readHead(head.fields, host.singleHeader)
  const exchange = new WebExchange(host, response)
  exchange.take({ observation, head, facts, config: host.config })
  exchange.setField(ID_HEADER, observation.id)
  return exchange
}

/** Returns the target of a web request, from the URL that the runtime made of it. */
export function readTarget({ url }: Request): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Lists the fields of a web request (name, value, name, value …). */
export function listFields({ url, headers }: Request): readonly string[] {
  // A web request has every name in lower case, which in a browser would be a contradiction.
  const fields = [...headers].flatMap(([name, value]) => [name === 'user-agent' ? 'User-Agent' : name, value])
  return headers.has('host') ? fields : [...fields, 'Host', new URL(url).host]
}

/** Converts fields (name, value, name, value …) to web headers. */
export function buildHeaders(fields: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < fields.length; at += 2) headers.append(fields[at] as string, fields[at + 1] as string)
  return headers
}

/** Reads a copy of the body, and leaves the body to the application. */
async function readWebBody({ request, parsed }: WebAnswer): Promise<McpBody> {
  if (request.bodyUsed) return parsedBody(await parsed?.())
  const headers = Object.fromEntries(request.headers)
  if (declaresTooMuch({ headers })) return { missing: 'too_large' }
  // The runtime keeps nothing of a copy that is cancelled.
  const copy = Readable.from(readParts(request.clone()))
  const read = await readAhead(copy, () => false)
  copy.destroy()
  return read
}

/** Reads the JSON body of a request; reads no byte before this call, and no more than needed. */
export function readWebJson(request: Request): Promise<unknown> {
  // The stream of fromWeb would fail with its client even where no code reads it.
  const sent = Readable.from(readParts(request))
  return readJson(sent, Object.fromEntries(request.headers), undefined)
}

async function* readParts({ body, bodyUsed }: Request): AsyncGenerator<Uint8Array> {
  if (body !== null && !bodyUsed) yield* body
}

/** Converts a response of ours to a web response for a request with this method. */
export function webResponse({ status, headers, body }: ApiResponse, method: string): Response {
  if (status === 204 || status === 304) return new Response(null, { status, headers })
  if (method === 'HEAD') {
    const length = isWhole(body) ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    return new Response(null, { status, headers: { ...headers, ...length } })
  }
  const sent = isWhole(body) ? body : ReadableStream.from(body).pipeThrough(new TextEncoderStream())
  return new Response(sent, { status, headers })
}
