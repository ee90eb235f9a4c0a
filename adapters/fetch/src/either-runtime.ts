import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiResponse } from '@sallyport/engine'
import { isReserved, isWhole, NODE, type Receiver, refusal } from '@sallyport/node/internal'
import { WEB, type WebAnswer, webResponse } from './web-request.ts'

/** A request that Node received. */
export interface OnNode {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The request that the host has made of it, if any. */
  readonly made?: { readonly headers: Headers } | undefined
  /** Returns the body that the host has read before. */
  readonly parsed?: (() => unknown) | undefined
}

/** A request of a host that runs on Node, on Bun, on Deno or on another web runtime. */
export type Place = OnNode | WebAnswer

/** Receives requests of Node with socket, order and case of fields, and requests of other runtimes as web requests. */
export const EITHER: Receiver<Place> = {
  receive: (host, place) => ('req' in place ? NODE.receive(host, place) : WEB.receive(host, place)),
  mark: (place, decision) => ('req' in place ? NODE.mark(place, decision) : undefined),
}

/** Returns a response of ours, which the host sends. */
export function respond(place: Place, response: ApiResponse): Response {
  if (!('req' in place)) return place.finish(webResponse(response, place.request.method))
  const { req, res } = place
  const { headers, body } = response
  // A web response cannot say whether the connection ends and how long an answer is. Node runtimes omit the first, and some of them the
  // second.
  if (!res.headersSent) {
    if (headers['connection'] !== undefined) res.setHeader('connection', headers['connection'])
    if (isWhole(body) && response.status !== 204) res.setHeader('content-length', Buffer.byteLength(body))
  }
  return webResponse(response, req.method ?? '')
}

/** Removes what the visitor sent under our names; returns false in a runtime where headers of a request cannot change. */
export function dropForged({ headers }: Request): boolean {
  const forged = [...headers.keys()].filter(isReserved)
  try {
    for (const name of forged) headers.delete(name)
    return true
  } catch {
    return false
  }
}

export const FORGED = refusal('invalid_request', 400, 'A header has a name that only a server may set.')

/** Writes a header as it now is into the request that the host has made: an earlier middleware may have read a forged value. */
export function renew({ req, made }: OnNode, name: string): void {
  const value = req.headers[name.toLowerCase()]
  if (typeof value === 'string') made?.headers.set(name, value)
  else made?.headers.delete(name)
}
