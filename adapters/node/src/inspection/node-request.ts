import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiResponse } from '@sallyport/engine'
import { applyVerdict } from '../answer/verdict-headers.ts'
import { endingOf } from '../request/ending.ts'
import type { HeadFault, Paths } from '../request/head-fault.ts'
import { readHead } from '../request/head-fields.ts'
import { lookAtServer, serverOf } from '../request/host-server.ts'
import { fieldsMissing, inspectionRequest } from '../request/inspection-request.ts'
import { isBehindLast } from '../request/last-request.ts'
import { observationOf } from '../request/observation.ts'
import type { RequestHost } from '../request/request-host.ts'
import { closingUnread } from '../request/unread-body.ts'
import { Received, type Receiver } from './received.ts'

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

/** A request of Node as it is inspected. */
export class NodeRequest extends Received {
  readonly #req: IncomingMessage

  constructor(host: RequestHost, { req, res, socket, target }: NodePlace) {
    const head = inspectionRequest(host, req, target)
    // Each member of a request is looked up once: in Express each costs as much as a hundred of a shared hidden class.
    const isHttp1 = head.httpVersion.startsWith('1')
    const answer = res ?? socket ?? req
    super(host, {
      request: req,
      observation: observationOf(host, req),
      head,
      facts: readHead(head.fields, host.singleHeader),
      response: res,
      end: isHttp1 ? answer : endingOf(answer),
      connection: isHttp1 ? req.socket : undefined,
    })
    this.#req = req
  }

  override fault(rules: RequestHost, paths?: Paths): HeadFault | undefined {
    // It is never sent: the answer before it ended the connection.
    if (isBehindLast(this.#req)) return { status: 400, reason: 'The connection has ended.' }
    if (fieldsMissing(this.#req)) return { status: 431, reason: 'The request has too many header fields.' }
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
    return new NodeRequest(host, place)
  },
  mark: ({ req }, decision) => applyVerdict(req, decision),
}
