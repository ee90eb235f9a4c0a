import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions } from '@sallyport/node'
import {
  answer,
  createInspection,
  createStepUp,
  isReserved,
  mountedPath,
  NODE,
  type Receiver,
  refusal,
  rendered,
} from '@sallyport/node/internal'
import { v1 } from './index.ts'
import { answerTo, fieldsOf, WEB, type WebAnswer, webResponse } from './web-request.ts'

/** A request as Node received it. */
export interface OnNode {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The request that the host has made of it, where it has one. */
  readonly made?: { readonly headers: Headers } | undefined
}

/** A request of another runtime, and the address that somebody says it came from. */
export interface OnWeb {
  readonly request: Request
  readonly address: string | undefined
}

/** A request of a host that stands on Node, on Bun, on Deno or on another runtime of the web. */
export type Place = OnNode | OnWeb

/** Says who a request came from where the host does not run on Node: the address of the socket, never of a header. */
export interface AddressOf<Host> {
  /** The address for a request; absent, or for nothing: it is not known, and so is the network. */
  readonly address?: ((host: Host) => string | undefined) | undefined
}

/** The outcome of a request. */
export interface Passed {
  readonly decision: Decision | undefined
  /** There where the request goes no further. */
  readonly response: Response | undefined
  /** Ends the request, and gives our headers to its response; absent on Node, where both are seen on the socket. */
  readonly end: ((response: Response) => Response) | undefined
}

/** Receives requests of Node as Node has them, with socket, order and case of fields; those of other runtimes as the web has them. */
const EITHER: Receiver<OnNode | WebAnswer> = {
  receive: (host, place) => ('req' in place ? NODE.receive(host, place) : WEB.receive(host, place)),
  mark: (place, decision) => ('req' in place ? NODE.mark(place, decision) : undefined),
}

/** The inspection of one mount of such a host; `placeOf` reads its request. Throws `invalid_config` and `invalid_policy`. */
export function createEither<Host>(
  sallyport: Decider,
  options: InspectionOptions<Host>,
  placeOf: (host: Host) => Place,
): (host: Host) => Promise<Passed> {
  const inspect = createInspection(EITHER, sallyport, options)
  return async (host) => {
    const place = placeOf(host)
    if (!('req' in place)) {
      const web = answerTo(place.request, place)
      const { decision, refusal: refused } = await inspect(web, host)
      const isClean = refused !== undefined || withoutForged(place.request)
      const answer = isClean
        ? refused
        : rendered(FORGED, { id: web.observation?.id ?? '', fields: fieldsOf(place.request) })
      const response = answer && web.finish(webResponse(answer, place.request.method))
      return { decision, response, end: (answered) => web.finish(answered) }
    }
    const spoofed = place.req.rawHeaders.filter((name, at) => at % 2 === 0 && isReserved(name))
    const outcome = inspect(place, host)
    const { decision, refusal } = outcome instanceof Promise ? await outcome : outcome
    // Something that ran before may have read them.
    for (const name of spoofed) renew(place, name)
    return { decision, response: refusal && onNode(refusal, place), end: undefined }
  }
}

/** The question of an application to its visitors, in such a host. Throws `invalid_config` and `invalid_policy`. */
export function createAsking(
  sallyport: Decider,
  options: ChallengeOptions,
): (place: Place) => Promise<Response | undefined> {
  const ask = createStepUp(EITHER, sallyport, options)
  return async (place) => {
    if ('req' in place) {
      const asked = await ask(place)
      return asked && onNode(asked, place)
    }
    const web = answerTo(place.request, place)
    const asked = await ask(web)
    return asked && web.finish(webResponse(asked, place.request.method))
  }
}

/** The API's answer to a request of such a host; `undefined` for a path that is not the API's. */
export async function answerEither(sallyport: ApiHost, place: Place, base: string): Promise<Response | undefined> {
  if (!('req' in place)) return v1(sallyport, place.request, { address: place.address, base })
  const { req, res } = place
  const target = req.url ?? ''
  const path = mountedPath(target, base)
  const answered = path === undefined ? undefined : await answer(sallyport, req, { res, target, path })
  return answered && onNode(answered, place)
}

/** A response of ours, which the host sends over Node. */
function onNode(response: ApiResponse, { req, res }: OnNode): Response {
  const { headers, body } = response
  // The web keeps to the runtime whether the connection ends and how long an answer is; Node's runtimes leave out the one, and
  // some of them the other.
  if (!res.headersSent) {
    if (headers['connection'] !== undefined) res.setHeader('connection', headers['connection'])
    const isWhole = typeof body === 'string' || body instanceof Uint8Array
    if (isWhole && response.status !== 204) res.setHeader('content-length', Buffer.byteLength(body))
  }
  return webResponse(response, req.method ?? '')
}

/** Takes what the visitor sent under our names from a request; false in a runtime where its headers cannot be changed. */
function withoutForged({ headers }: Request): boolean {
  const forged = [...headers.keys()].filter(isReserved)
  try {
    for (const name of forged) headers.delete(name)
    return true
  } catch {
    return false
  }
}

const FORGED = refusal('invalid_request', 400, 'A header has a name that only a server writes.')

function renew({ req, made }: OnNode, name: string): void {
  const value = req.headers[name.toLowerCase()]
  if (typeof value === 'string') made?.headers.set(name, value)
  else made?.headers.delete(name)
}
