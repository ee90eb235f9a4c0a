import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { SallyportError } from '@sallyport/core/host'
import type { Api, ApiRequest, ApiResponse } from '@sallyport/engine'
import { headRefusal, rendered } from './answer/refusal.ts'
import type { Exchange } from './exchange.ts'
import { announcePhase } from './phases.ts'
import { NODE } from './receive.ts'
import { readJson } from './request/json-body.ts'
import { mountedPath, splitTarget } from './request/mounted-path.ts'
import type { ReceivedHead } from './request/node-head.ts'
import type { RequestHost } from './request/request-host.ts'

const API_PATH = /^\/v1(?:[/?#]|$)/

/** Answers /v1: the value that `open()` resolves to, or a stand-in. */
export interface ApiHost extends RequestHost {
  /** Answers a request; `undefined` for a path outside the API. */
  readonly api: Api
}

/** Says how a Node request reached the API in its host. */
export interface ApiPlace {
  /** Takes the answer, which names the request's id. */
  readonly res: ServerResponse
  /** The request target, as received. */
  readonly target: string
  /** The target that remains below the mount, with or without its query. */
  readonly path: string
  /** The body, where the host has parsed it. */
  readonly body?: unknown
}

/** Turns a head into the value that the API answers; `path` is its target under the mount. `json()` calls `read` once. */
export function apiRequest(head: ReceivedHead, path: string, read: () => Promise<unknown>): ApiRequest {
  let reading: Promise<unknown> | undefined
  // A literal of two spreads would take longer than the lookup.
  return Object.assign(head, splitTarget(path), {
    json() {
      reading ??= read()
      return reading
    },
  })
}

/** Reports whether a target under a mount belongs to the API. */
export function isApiPath(path: string): boolean {
  return API_PATH.test(mountedPath(path) ?? '')
}

/** Returns the API's response to a Node request, ready to send; `undefined` for a path outside the API. */
export async function answer(host: ApiHost, req: IncomingMessage, place: ApiPlace): Promise<ApiResponse | undefined> {
  const { res, target, path, body } = place
  if (!isApiPath(path)) return undefined
  return answerApi(host, NODE.receive(host, { req, res, target }), path, () => readJson(req, req.headers, body))
}

/** Returns the API's response to a request for the API; refuses a faulty head first. The API reads a path in one way only. */
export async function answerApi(
  host: ApiHost,
  exchange: Exchange,
  path: string,
  read: () => Promise<unknown>,
): Promise<ApiResponse | undefined> {
  const { head, observation } = exchange
  // A middleware in front may have set the fields of a policy's limit. The API sends its own alone.
  for (const name of ['ratelimit', 'ratelimit-policy']) exchange.setField(name, undefined)
  observation.answeredBy = 'api'
  announcePhase('precheck', head.id)
  const fault = exchange.apiFault(host)
  if (fault === undefined) return answerCheckedApi(host, exchange, path, read)
  observation.refuse('head')
  return exchange.closing(rendered(headRefusal(fault, head.fields), { id: head.id }))
}

/** Returns the API's response to a request whose head the host has checked. */
export async function answerCheckedApi(
  host: ApiHost,
  exchange: Exchange,
  path: string,
  read: () => Promise<unknown>,
): Promise<ApiResponse | undefined> {
  const { head, observation } = exchange
  observation.answeredBy = 'api'
  announcePhase('answer', head.id)
  const answered = await host.api(apiRequest(head, mountedPath(path) ?? path, read))
  return answered && exchange.closing(answered)
}

/** Returns the body of a response in a form that any host can send. */
export function hostBody({ body }: ApiResponse): string | Buffer | Readable {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return typeof body === 'string' ? body : Readable.from(body)
}

/** Throws `invalid_config` at start-up: a forgotten `await` before `open()` would otherwise fail the first request. */
export function requireApi(host: ApiHost): void {
  if (typeof host?.api !== 'function') {
    throw new SallyportError('invalid_config', 'v1() takes what open() resolves to. Is an await missing?')
  }
}
