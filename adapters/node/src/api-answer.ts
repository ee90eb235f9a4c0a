import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Api, ApiRequest, ApiResponse } from '@sallyport/api'
import { SallyportError } from '@sallyport/core/host'
import { headRefusal, rendered } from './answer/refusal.ts'
import { noteRefusal, observe } from './inspection/observation.ts'
import { type HeadFault, NO_PATH } from './request/head-fault.ts'
import { inspectionRequest } from './request/inspection-request.ts'
import { readJson } from './request/json-body.ts'
import { isAbsolute, mountedPath, splitTarget } from './request/mounted-path.ts'
import { requestFault } from './request/request-fault.ts'
import type { RequestHost } from './request/request-host.ts'
import { nameAnswer, requestId } from './request/request-id.ts'
import { closingUnread } from './request/unread-body.ts'

const API_PATH = /^\/v1(?:[/?#]|$)/

/** Answers /v1: what `open()` resolves to, or a stand-in. */
export interface ApiHost extends RequestHost {
  /** Answers a request; `undefined` for a path that is not the API's. */
  readonly api: Api
}

/** How a request reached the API in its host. */
export interface ApiPlace {
  /** Takes the answer, which names the request's id. */
  readonly res: ServerResponse
  /** Request target as received. */
  readonly target: string
  /** The target under the mount, with or without its query. */
  readonly path: string
  /** The body as the host parsed it, where it did. */
  readonly body?: unknown
}

/** A Node request as the neutral value that the API answers. `json()` reads nothing before it is called. */
export function apiRequest(
  host: RequestHost,
  req: IncomingMessage,
  place: Pick<ApiPlace, 'target' | 'path' | 'body'>,
): ApiRequest {
  let reading: Promise<unknown> | undefined
  // Not a literal of two spreads, which takes longer than the lookup that is asked for.
  return Object.assign(inspectionRequest(host, req, place.target), splitTarget(place.path), {
    json() {
      reading ??= readJson(req, place.body)
      return reading
    },
  })
}

/** The API's response to a Node request, ready to be sent; `undefined` when the path is not the API's. */
export async function answer(host: ApiHost, req: IncomingMessage, place: ApiPlace): Promise<ApiResponse | undefined> {
  const ours = API_PATH.test(mountedPath(place.path) ?? '')
  const fault = ours ? begin(host, req, place) : undefined
  const response = fault ?? (await host.api(apiRequest(host, req, place)))
  return response === undefined ? undefined : closingUnread(req, response)
}

/** Names and observes a request of the API; what is wrong with its head is answered here. */
function begin(host: RequestHost, req: IncomingMessage, { res, target }: ApiPlace): ApiResponse | undefined {
  const id = requestId(host, req)
  nameAnswer(res, id)
  // A middleware before it may have told of a limit of the policy; the API tells of its own alone.
  if (!res.headersSent) for (const name of ['ratelimit', 'ratelimit-policy']) res.removeHeader(name)
  const observation = observe(host, req, { response: res, end: res, target })
  if (observation !== undefined) observation.answeredBy = 'api'
  const fault = faultOf(host, req, target)
  if (fault === undefined) return undefined
  noteRefusal(observation, 'head')
  return rendered(headRefusal(fault, req.rawHeaders), { id })
}

/** Why a request for the API is refused before the API sees it. */
function faultOf(host: RequestHost, req: IncomingMessage, target: string): HeadFault | undefined {
  // Hosts do not agree on which of target and Host names the site, and the proxy refuses it for every path (D94).
  return isAbsolute(target) ? NO_PATH : requestFault(host, req, target)
}

/** The body of a response in a form that any host can send. */
export function hostBody(response: ApiResponse): string | Readable {
  return typeof response.body === 'string' ? response.body : Readable.from(response.body)
}

/** Throws `invalid_config` at start-up: a forgotten `await` before `open()` would otherwise fail the first request. */
export function requireApi(host: ApiHost): void {
  if (typeof host?.api !== 'function') {
    throw new SallyportError('invalid_config', 'v1() takes what open() resolves to. Is an await missing?')
  }
}
