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
import { answerTo, listFields, WEB, type WebAnswer, webResponse } from './web-request.ts'

/** A request that Node received. */
export interface OnNode {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The request that the host has made of it, if any. */
  readonly made?: { readonly headers: Headers } | undefined
  /** Returns the body that the host has read before. */
  readonly parsed?: (() => unknown) | undefined
}

/** A request of another runtime, with the address that the host gives. */
export interface OnWeb {
  readonly request: Request
  readonly address: string | undefined
  readonly parsed?: (() => unknown) | undefined
}

/** A request of a host that runs on Node, on Bun, on Deno or on another web runtime. */
export type Place = OnNode | OnWeb

/** Names the client of a request where the host does not run on Node: the address must come from the socket, never from a header. */
export interface AddressOf<Host> {
  /** Returns the address for a request; absent or `undefined`: address and network are unknown. */
  readonly address?: ((host: Host) => string | undefined) | undefined
}

/** Holds the result of an inspection. */
export interface Passed {
  readonly decision: Decision | undefined
  /** Set where the request goes no further. */
  readonly response: Response | undefined
  /** Ends the request, and adds our headers to its response; absent on Node, where the socket shows both. */
  readonly end: ((response: Response) => Response) | undefined
}

/** Receives requests of Node with socket, order and case of fields, and requests of other runtimes as web requests. */
const EITHER: Receiver<OnNode | WebAnswer> = {
  receive: (host, place) => ('req' in place ? NODE.receive(host, place) : WEB.receive(host, place)),
  mark: (place, decision) => ('req' in place ? NODE.mark(place, decision) : undefined),
}

/** Creates the inspection of one mount of such a host; `placeOf` reads its request. Throws `invalid_config` and `invalid_policy`. */
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
      const isClean = refused !== undefined || dropForged(place.request)
      const answer = isClean
        ? refused
        : rendered(FORGED, { id: web.observation?.id ?? '', fields: listFields(place.request) })
      const response = answer && web.finish(webResponse(answer, place.request.method))
      return { decision, response, end: (answered) => web.finish(answered) }
    }
    const spoofed = place.req.rawHeaders.filter((name, at) => at % 2 === 0 && isReserved(name))
    const outcome = inspect(place, host)
    const { decision, refusal } = outcome instanceof Promise ? await outcome : outcome
    // An earlier middleware may have read the forged headers.
    for (const name of spoofed) renew(place, name)
    return { decision, response: refusal && convertResponse(refusal, place), end: undefined }
  }
}

/** Creates the challenge that an application makes in such a host. Throws `invalid_config` and `invalid_policy`. */
export function createAsking(
  sallyport: Decider,
  options: ChallengeOptions,
): (place: Place, body?: unknown) => Promise<Response | undefined> {
  const ask = createStepUp(EITHER, sallyport, options)
  return async (place, body) => {
    if ('req' in place) {
      const asked = await ask(place, body)
      return asked && convertResponse(asked, place)
    }
    const web = answerTo(place.request, place)
    const asked = await ask(web, body)
    return asked && web.finish(webResponse(asked, place.request.method))
  }
}

/** Returns the API's answer to a request of such a host; `undefined` for a path outside the API. */
export async function answerEither(sallyport: ApiHost, place: Place, base: string): Promise<Response | undefined> {
  if (!('req' in place)) return v1(sallyport, place.request, { address: place.address, base })
  const { req, res } = place
  const target = req.url ?? ''
  const path = mountedPath(target, base)
  const answered = path === undefined ? undefined : await answer(sallyport, req, { res, target, path })
  return answered && convertResponse(answered, place)
}

/** Returns a response of ours, which the host sends over Node. */
function convertResponse(response: ApiResponse, { req, res }: OnNode): Response {
  const { headers, body } = response
  // A web response cannot say whether the connection ends and how long an answer is. Node runtimes omit the first, and some of them the
  // second.
  if (!res.headersSent) {
    if (headers['connection'] !== undefined) res.setHeader('connection', headers['connection'])
    const isWhole = typeof body === 'string' || body instanceof Uint8Array
    if (isWhole && response.status !== 204) res.setHeader('content-length', Buffer.byteLength(body))
  }
  return webResponse(response, req.method ?? '')
}

/** Removes what the visitor sent under our names; returns false in a runtime where headers of a request cannot change. */
function dropForged({ headers }: Request): boolean {
  const forged = [...headers.keys()].filter(isReserved)
  try {
    for (const name of forged) headers.delete(name)
    return true
  } catch {
    return false
  }
}

const FORGED = refusal('invalid_request', 400, 'A header has a name that only a server may set.')

function renew({ req, made }: OnNode, name: string): void {
  const value = req.headers[name.toLowerCase()]
  if (typeof value === 'string') made?.headers.set(name, value)
  else made?.headers.delete(name)
}
