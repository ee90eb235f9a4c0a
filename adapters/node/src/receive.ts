import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Writable } from '@sallyport/core'
import type { McpBody } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { Exchange, type Received, type Receiver } from './exchange.ts'
import { type Ending, findObservation } from './observation.ts'
import type { HeadFault, Paths } from './request/head-fault.ts'
import { readHead } from './request/head-fields.ts'
import { findServer, lookAtServer } from './request/host-server.ts'
import { declaresTooMuch } from './request/json-body.ts'
import type { NodeHead, ReceivedHead } from './request/node-head.ts'
import { isBehindLast } from './request/node-parser.ts'
import { hasArrived, parsedBody, readAhead } from './request/read-ahead.ts'
import type { RequestHost } from './request/request-host.ts'
import { ID_HEADER } from './request/request-id.ts'
import { closingUnread } from './request/unread-body.ts'
import { applyVerdict } from './request/verdict-headers.ts'

/** A request of Node, and where it is answered. */
export interface NodePlace {
  readonly req: IncomingMessage
  /** Absent where the request is an upgrade. */
  readonly res?: ServerResponse | undefined
  /** Carries the connection of an upgrade. */
  readonly socket?: Socket | undefined
  /** The target as received; default: `req.url`. */
  readonly target?: string | undefined
  /** Returns what the host has made of the body; absent: the host never reads the body before us. */
  readonly parsed?: (() => unknown) | undefined
}

/** Keys the JA4 of the client on a connection. Every copy of this package in a process knows the symbol. */
const JA4: unique symbol = Symbol.for('sallyport.ja4') as never

/** Records the JA4 of a connection, for its requests. */
export function noteJa4(connection: object & { [JA4]?: string | undefined }, ja4: string): void {
  connection[JA4] = ja4
}

/**
 * Runs the phase `receive` for a request of Node. A host that strips a mount from `req.url` passes the original `target`. `head.fields` is a
 * copy, because it is evidence, and the verdict is written into the received fields.
 */
export function receive(host: RequestHost, req: NodeHead, target: string = req.url ?? ''): Received {
  const observation = findObservation(host, req)
  // HTTP/2 hides the socket of a stream that is already gone.
  const socket: (Socket & { readonly [JA4]?: string | undefined }) | undefined = req.socket
  const peer = socket?.remoteAddress ?? ''
  // A request without a connection has no version.
  const httpVersion: string = req.httpVersion ?? ''
  const http2Window = httpVersion === '2.0' ? streamWindow(req) : undefined
  const head: Writable<ReceivedHead> = {
    id: observation.id,
    peer,
    method: req.method ?? '',
    target,
    scheme: socket === undefined ? 'unknown' : (socket as Partial<TLSSocket>).encrypted ? 'https' : 'http',
    httpVersion,
    fields: req.rawHeaders.slice(),
  }
  writeJa4(host, head, socket?.[JA4])
  if (http2Window !== undefined) head.http2Window = http2Window
  const { singleHeader, config } = host
  return { observation, head, facts: readHead(head.fields, singleHeader), config }
}

/**
 * Writes the JA4 of the client into a head; `own` comes from its connection. The connection of a trusted proxy says nothing about the
 * client, whose JA4 the proxy may name.
 */
export function writeJa4(host: RequestHost, head: Writable<ReceivedHead>, own?: string): void {
  if (own !== undefined && !host.isTrusted?.(head.peer)) {
    head.ja4 = own
    return
  }
  const named = host.namedJa4?.(head)
  if (named === undefined) return
  head.ja4 = named.ja4
  head.ja4Header = named.header
}

/** Receives an exchange that its host has created before. */
export function receiveExchange(exchange: Exchange & { readonly request: NodeHead }): undefined {
  exchange.take(receive(exchange.host, exchange.request))
}

/** Returns the window of the session; a closed stream has no session. */
function streamWindow(req: NodeHead & { readonly stream?: Http2Stream | undefined }): number | undefined {
  return req.stream?.session?.remoteSettings.initialWindowSize
}

/** Counts the fields that Node keeps by default: it may show a few more, and drops the rest. */
const KEPT_BY_DEFAULT = 1000

/**
 * Reports whether Node may have dropped header fields of this request. Beyond the server's `maxHeadersCount` it drops fields without an
 * error, and a trusted proxy appends its fields last: the remaining fields cannot be judged.
 */
function hasLostFields(req: IncomingMessage): boolean {
  const kept = findServer(req)?.maxHeadersCount ?? KEPT_BY_DEFAULT
  return kept > 0 && req.rawHeaders.length / 2 >= kept
}

/** Returns what ends an answer, over HTTP/2 its stream: when a client cancels an unanswered HEAD, the response emits nothing. */
function chooseEnding(answer: Ending & { readonly stream?: Ending | undefined }): Ending {
  return answer.stream ?? answer
}

/** An exchange for a request that a server of Node received. */
class NodeExchange extends Exchange {
  readonly #req: IncomingMessage
  readonly #parsed: NodePlace['parsed']

  constructor(host: RequestHost, { req, res, socket, target, parsed }: NodePlace) {
    const received = receive(host, req, target)
    const { head } = received
    // Each member of a request is read once: in Express a read costs as much as a hundred reads from a shared hidden class.
    const isHttp1 = head.httpVersion.startsWith('1')
    const answer = res ?? socket ?? req
    super()
    this.host = host
    this.request = req
    this.response = res
    this.ending = isHttp1 ? answer : chooseEnding(answer)
    this.connection = isHttp1 ? req.socket : undefined
    this.take(received)
    this.#req = req
    this.#parsed = parsed
    this.setField(ID_HEADER, head.id)
  }

  override fault(rules: RequestHost, paths?: Paths): HeadFault | undefined {
    // The client never receives this answer: the previous answer ended the connection.
    if (isBehindLast(this.#req)) return { status: 400, reason: 'The connection has ended.' }
    if (hasLostFields(this.#req)) return { status: 431, reason: 'The request has too many header fields.' }
    return super.fault(rules, paths)
  }

  override async readBody(): Promise<McpBody> {
    const req = this.#req
    if (req.readableDidRead || req.readableEnded) return parsedBody(await this.#parsed?.())
    if (declaresTooMuch(req)) return { missing: 'too_large' }
    const read = await readAhead(req, () => hasArrived(req))
    // Node discards an unread body, but not a body that was read in part.
    if ('missing' in read) this.onEnd(() => req.resume())
    return read
  }

  override closing(answer: ApiResponse): ApiResponse {
    return closingUnread(this.#req, answer)
  }
}

/** Receives requests of Node. */
export const NODE: Receiver<NodePlace> = {
  receive(host, place) {
    lookAtServer(findServer(place.req))
    return new NodeExchange(host, place)
  },
  mark: ({ req }, decision) => applyVerdict(req, decision),
}
