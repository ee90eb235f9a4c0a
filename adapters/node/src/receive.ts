import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Writable } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import { applyVerdict } from './answer/verdict-headers.ts'
import { Exchange, type Received, type Receiver } from './exchange.ts'
import { findObservation } from './observation.ts'
import { JA4 } from './request/connection-ja4.ts'
import { endingOf } from './request/ending.ts'
import type { HeadFault, Paths } from './request/head-fault.ts'
import { readHead } from './request/head-fields.ts'
import { lookAtServer, serverOf } from './request/host-server.ts'
import { isBehindLast } from './request/last-request.ts'
import type { NodeHead, ReceivedHead } from './request/node-head.ts'
import type { RequestHost } from './request/request-host.ts'
import { ID_HEADER } from './request/request-id.ts'
import { closingUnread } from './request/unread-body.ts'

/** A request of Node, and where it is answered. */
export interface NodePlace {
  readonly req: IncomingMessage
  /** Absent for an upgrade. */
  readonly res?: ServerResponse | undefined
  /** The connection of an upgrade. */
  readonly socket?: Socket | undefined
  /** As received; default `req.url`. */
  readonly target?: string | undefined
}

/**
 * The phase `receive` for a request of Node. Reads the raw request; writes `observation` with the id and the time, `head`, the neutral
 * value that is inspected, and `facts`, what one walk over the fields collects. `target` is the request target as received: hosts
 * that strip a mount from `req.url` pass the original. `head.fields` is a copy of `req.rawHeaders`, because it is evidence and the verdict
 * is written into the received ones.
 */
export function receive(host: RequestHost, req: NodeHead, target: string = req.url ?? ''): Received {
  const observation = findObservation(host, req)
  // HTTP/2 hides the socket of a stream that is already gone.
  const socket: (Socket & { readonly [JA4]?: string | undefined }) | undefined = req.socket
  const peer = socket?.remoteAddress ?? ''
  const ja4 = socket?.[JA4]
  // A request that came by no connection has none.
  const httpVersion: string = req.httpVersion ?? ''
  const http2Window = httpVersion === '2.0' ? windowOf(req) : undefined
  const head: Writable<ReceivedHead> = {
    id: observation.id,
    peer,
    method: req.method ?? '',
    target,
    scheme: socket === undefined ? 'unknown' : (socket as Partial<TLSSocket>).encrypted ? 'https' : 'http',
    httpVersion,
    fields: req.rawHeaders.slice(),
  }
  // A trusted proxy's is not its client's.
  if (ja4 !== undefined && !host.isTrusted?.(peer)) head.ja4 = ja4
  if (http2Window !== undefined) head.http2Window = http2Window
  const { singleHeader, config } = host
  return { observation, head, facts: readHead(head.fields, singleHeader), config }
}

/** The same for an exchange that its host makes before it is received. */
export function receiveExchange(exchange: Exchange & { readonly request: NodeHead }): undefined {
  exchange.take(receive(exchange.host, exchange.request))
}

/** Returns the window of the session, which a stream that is already gone has not. */
function windowOf(req: NodeHead & { readonly stream?: Http2Stream | undefined }): number | undefined {
  return req.stream?.session?.remoteSettings.initialWindowSize
}

/** Fields that Node keeps where a server does not say otherwise: a little more may show, the rest is gone. */
const KEPT_BY_DEFAULT = 1000

/**
 * True when Node may have dropped header fields of this request. Beyond the server's `maxHeadersCount` it drops them
 * without an error, and the last are the ones a trusted proxy appended: what is left cannot be judged.
 */
function hasLostFields(req: IncomingMessage): boolean {
  const kept = serverOf(req)?.maxHeadersCount ?? KEPT_BY_DEFAULT
  return kept > 0 && req.rawHeaders.length / 2 >= kept
}

/** The exchange of a request that a server of Node received. */
class NodeExchange extends Exchange {
  readonly #req: IncomingMessage

  constructor(host: RequestHost, { req, res, socket, target }: NodePlace) {
    const received = receive(host, req, target)
    const { head } = received
    // Each member of a request is looked up once: in Express each costs as much as a hundred of a shared hidden class.
    const isHttp1 = head.httpVersion.startsWith('1')
    const answer = res ?? socket ?? req
    super()
    this.host = host
    this.request = req
    this.response = res
    this.ending = isHttp1 ? answer : endingOf(answer)
    this.connection = isHttp1 ? req.socket : undefined
    this.take(received)
    this.#req = req
    this.tell(ID_HEADER, head.id)
  }

  override fault(rules: RequestHost, paths?: Paths): HeadFault | undefined {
    // This answer is never sent: the answer before it ended the connection.
    if (isBehindLast(this.#req)) return { status: 400, reason: 'The connection has ended.' }
    if (hasLostFields(this.#req)) return { status: 431, reason: 'The request has too many header fields.' }
    return super.fault(rules, paths)
  }

  override closing(answer: ApiResponse): ApiResponse {
    return closingUnread(this.#req, answer)
  }
}

/** Receives requests of Node. */
export const NODE: Receiver<NodePlace> = {
  receive(host, place) {
    lookAtServer(serverOf(place.req))
    return new NodeExchange(host, place)
  },
  mark: ({ req }, decision) => applyVerdict(req, decision),
}
