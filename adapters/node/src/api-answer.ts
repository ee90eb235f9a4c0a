import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Api, ApiRequest, ApiResponse } from '@sallyport/api'
import { SallyportError } from '@sallyport/core'
import { fieldsMissing, inspectionRequest } from './inspection-request.ts'
import { readJson } from './json-body.ts'
import { isAbsolute, mountedPath, splitTarget } from './mounted-path.ts'
import { absoluteTarget, type Refusal, tooManyFields } from './refusal.ts'
import { closingUnread } from './unread-body.ts'

const API_PATH = /^\/v1(?:[/?#]|$)/

/** What answers /v1: what `open()` resolves to, or a stand-in. */
export interface ApiHost {
  readonly api: Api
}

/** How a request reached the API in its host. */
export interface ApiPlace {
  /** Request target as received. */
  readonly target: string
  /** The target under the mount, with or without its query. */
  readonly path: string
  /** The body as the host parsed it, where it did. */
  readonly body?: unknown
}

/** A Node request as the neutral value that the API answers. `json()` reads nothing before it is called. */
export function apiRequest(req: IncomingMessage, place: ApiPlace): ApiRequest {
  let reading: Promise<unknown> | undefined
  // Not a literal of two spreads, which takes longer than the lookup that is asked for.
  return Object.assign(inspectionRequest(req, place.target), splitTarget(place.path), {
    json() {
      reading ??= readJson(req, place.body)
      return reading
    },
  })
}

/** The API's response to a Node request, ready to be sent; `undefined` when the path is not the API's. */
export async function answer(host: ApiHost, req: IncomingMessage, place: ApiPlace): Promise<ApiResponse | undefined> {
  const response = refusalOf(req, place) ?? (await host.api(apiRequest(req, place)))
  return response === undefined ? undefined : closingUnread(req, response)
}

/** The answer to a request for the API that is refused before the API sees it. */
function refusalOf(req: IncomingMessage, { target, path }: ApiPlace): Refusal | undefined {
  if (!API_PATH.test(mountedPath(path) ?? '')) return undefined
  if (fieldsMissing(req)) return tooManyFields()
  // Hosts do not agree on which of target and Host names the site, and the proxy refuses it for every path.
  return isAbsolute(target) ? absoluteTarget() : undefined
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
