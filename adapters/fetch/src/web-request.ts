import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { ApiResponse } from '@sallyport/engine'
import {
  Exchange,
  type HostResponse,
  ID_HEADER,
  isForCaches,
  newId,
  Observation,
  privateControl,
  type Receiver,
  type RequestHost,
  readHead,
  readJson,
} from '@sallyport/node/internal'

/** Origin of a request, as far as the runtime says. */
export interface RequestOrigin {
  /** Address of the socket's other end, never of a header; absent: nothing is known of the network. */
  readonly address?: string | undefined
}

/** On a web request: its answer. Known to every copy of this package in a process. */
const ANSWER: unique symbol = Symbol.for('sallyport.web-answer') as never

/** A web request and its answer, which the runtime sends: here are its headers, its status, and that it ended. */
export class WebAnswer extends EventEmitter implements HostResponse {
  readonly request: Request
  readonly address: string | undefined
  /** There once the request has an id. */
  observation: Observation | undefined
  headersSent = false
  statusCode = 0
  #sent: Headers | undefined
  #isPrivate = false
  readonly #headers = new Map<string, string>()
  readonly #suggested = new Map<string, string>()
  readonly #added: (readonly [string, string])[] = []

  constructor(request: Request, { address }: RequestOrigin) {
    super()
    this.request = request
    this.address = address
  }

  get closed(): boolean {
    return this.headersSent
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value)
  }

  /** A header of the answer once that was finished. */
  getHeader(name: string): string | undefined {
    return this.#sent?.get(name) ?? undefined
  }

  suggestHeader(name: string, value: string): void {
    this.#suggested.set(name, value)
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

  /** The response with our headers. Its status is noted, once: what is observed and counted ends here. */
  finish(response: Response): Response {
    if (!this.headersSent) {
      this.statusCode = response.status
      this.#sent = response.headers
      this.headersSent = true
      this.emit('close')
    }
    // Applications answer many requests with one response, where that has no body to be used up: ours are one visitor's headers.
    const own = response.body === null && response.status >= 200 ? new Response(null, response) : response
    try {
      if (this.#isPrivate) {
        own.headers.set('cache-control', privateControl(own.headers.get('cache-control') ?? ''))
        for (const name of [...own.headers.keys()].filter(isForCaches)) own.headers.delete(name)
      }
      for (const [name, value] of this.#headers) own.headers.set(name, value)
      for (const [name, value] of this.#suggested) {
        if (!own.headers.has(name)) own.headers.set(name, value)
      }
      // Each once, however often an answer is finished.
      for (const [name, value] of this.#added.splice(0)) own.headers.append(name, value)
      return own
    } catch {
      // The headers of a response that `fetch` returned cannot be changed: the response is copied.
      return this.finish(new Response(response.body, response))
    }
  }
}

/** The answer to a request: at every call the same. */
export function answerTo(request: Request & { [ANSWER]?: WebAnswer | undefined }, place: RequestOrigin): WebAnswer {
  request[ANSWER] ??= new WebAnswer(request, place)
  return request[ANSWER]
}

/** The exchange of a web request. */
class WebExchange extends Exchange {
  constructor(host: RequestHost, answer: WebAnswer) {
    super()
    this.host = host
    this.request = answer.request
    this.response = answer
    this.ending = answer
  }
}

/** Receives web requests, which cannot be marked and do not show the HTTP version, nor the order and case of names. */
export const WEB: Receiver<WebAnswer> = { receive, mark() {} }

function receive(host: RequestHost, response: WebAnswer): Exchange {
  const { request, address: peer = '' } = response
  response.observation ??= new Observation(newId(host, response.address, Object.fromEntries(request.headers)))
  const { observation } = response
  const scheme = request.url.startsWith('https:') ? 'https' : 'http'
  const shown = { method: request.method, target: targetOf(request), scheme, fields: fieldsOf(request) } as const
  const head = { id: observation.id, peer, httpVersion: '', ...shown }
  const facts = readHead(head.fields, host.singleHeader)
  const exchange = new WebExchange(host, response)
  exchange.take({ observation, head, facts, config: host.config })
  exchange.tell(ID_HEADER, observation.id)
  return exchange
}

/** The target of a web request, as the runtime made a URL of it. */
export function targetOf({ url }: Request): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** The fields of a web request (name, value, name, value …). */
export function fieldsOf({ url, headers }: Request): readonly string[] {
  // Every name is in lower case there, and of a browser that would be a contradiction.
  const fields = [...headers].flatMap(([name, value]) => [name === 'user-agent' ? 'User-Agent' : name, value])
  return headers.has('host') ? fields : [...fields, 'Host', new URL(url).host]
}

/** Fields (name, value, name, value …) as the web has them. */
export function headersOf(fields: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < fields.length; at += 2) headers.append(fields[at] as string, fields[at + 1] as string)
  return headers
}

/** The JSON body of a request; nothing of it is read before this is called, and no more than is taken. */
export function readWebJson(request: Request): Promise<unknown> {
  // Not fromWeb, whose stream fails with its client even where nobody reads it.
  const sent = Readable.from(partsOf(request))
  return readJson(sent, Object.fromEntries(request.headers), undefined)
}

async function* partsOf({ body, bodyUsed }: Request): AsyncGenerator<Uint8Array> {
  if (body !== null && !bodyUsed) yield* body
}

/** A response of ours to a request of this method as the web has it. */
export function webResponse({ status, headers, body }: ApiResponse, method: string): Response {
  if (status === 204 || status === 304) return new Response(null, { status, headers })
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  if (method === 'HEAD') {
    const length = isWhole ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    return new Response(null, { status, headers: { ...headers, ...length } })
  }
  const sent = isWhole ? body : ReadableStream.from(body).pipeThrough(new TextEncoderStream())
  return new Response(sent, { status, headers })
}
