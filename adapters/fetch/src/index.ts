import type { Decision } from '@sallyport/core'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions } from '@sallyport/node'
import {
  answerApi,
  createInspection,
  createStepUp,
  isApiPath,
  mountedPath,
  requireApi,
  trimBase,
  withVerdict,
} from '@sallyport/node/internal'
import {
  answerTo,
  buildHeaders,
  listFields,
  type RequestOrigin,
  readTarget,
  readWebJson,
  WEB,
  webResponse,
} from './web-request.ts'

export { type ChallengeOptions, type InspectionOptions, open } from '@sallyport/node'
export type { RequestOrigin } from './web-request.ts'

/** Holds the result of a guard. */
export interface Guarded {
  /** Absent where the request could not be judged. */
  readonly decision?: Decision | undefined
  /** Answers a request that goes no further; else absent. */
  readonly response?: Response | undefined
  /** Holds the request's headers with the verdict, without what the visitor sent under our names: pass these on. */
  readonly headers: Headers
  /**
   * Returns the application's response with our headers, ready to send. The decision log, metrics and rules that count requests in flight
   * take the request as ended here, so call it once where there is no `response`.
   */
  end(response: Response): Response
}

/** Inspects the requests of one mount. */
export type Guard = (request: Request, place: RequestOrigin) => Promise<Guarded>

/**
 * Creates the inspection of one mount: `guard` with options, which are checked and compiled once. Throws `invalid_config` and
 * `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection, open } from '@sallyport/fetch'
 *
 * const guard = inspection(await open(), { policy: 'protect-content', skip: ({ url }) => url.endsWith('/health') })
 * const { response, end } = await guard(new Request('https://shop.example/'), { address: '203.0.113.7' })
 * console.log((response ?? end(new Response('welcome'))).status)
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function inspection(sallyport: Decider, options: InspectionOptions<Request> = {}): Guard {
  const inspect = createInspection(WEB, sallyport, options)
  return async (request, place) => {
    const answer = answerTo(request, place)
    const { decision, refusal } = await inspect(answer, request)
    const response = refusal && answer.finish(webResponse(refusal, request.method))
    return {
      ...(decision && { decision }),
      ...(response && { response }),
      get headers() {
        return buildHeaders(withVerdict(listFields(request), decision))
      },
      end: (answered) => answer.finish(answered),
    }
  }
}

/**
 * Inspects one web request. An enforced block has a `response`. A `Request` hides the order and the case of its headers, repeated fields,
 * the path as written, the HTTP version and the socket: signals that need them are missing, and `address` is the peer's, as the runtime
 * names it. Rejects with `invalid_config` for a value that is not a Sallyport.
 *
 * @example
 * ```ts
 * import { guard, open } from '@sallyport/fetch'
 *
 * const sallyport = await open()
 *
 * export async function answer(request: Request, address: string): Promise<Response> {
 *   const { decision, response, end } = await guard(sallyport, request, { address })
 *   return response ?? end(Response.json({ action: decision?.action }))
 * }
 * ```
 * @see https://fetch.spec.whatwg.org/#request-class
 */
export function guard(sallyport: Decider, request: Request, place: RequestOrigin): Promise<Guarded> {
  return inspection(sallyport)(request, place)
}

/**
 * Creates a challenge for visitors without a pass of a level, at a place that the application chooses: resolves to the answer to send, or
 * to `undefined` where the request may go on. With `form` it needs the parsed body. Visitors who hold such a pass, or are never challenged,
 * go on. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, open } from '@sallyport/fetch'
 *
 * const ask = challenge(await open(), { level: 2 })
 *
 * export const buy = async (request: Request, address: string): Promise<Response> =>
 *   (await ask(request, { address })) ?? new Response('sold')
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(
  sallyport: Decider,
  options: ChallengeOptions = {},
): (request: Request, place: RequestOrigin, body?: unknown) => Promise<Response | undefined> {
  const ask = createStepUp(WEB, sallyport, options)
  return async (request, place, body) => {
    const answer = answerTo(request, place)
    const answered = await ask(answer, body)
    return answered && answer.finish(webResponse(answered, request.method))
  }
}

/** Names the path of the mount of `/v1`, and the origin of the request. */
export interface V1Place extends RequestOrigin {
  /** The path above `/v1`, such as `/detect`; default: the root. */
  readonly base?: string | undefined
}

/**
 * Answers a request under `<base>/v1`; `undefined` for any other. Rejects with `invalid_config`.
 *
 * @example
 * ```ts
 * import { open, v1 } from '@sallyport/fetch'
 *
 * const sallyport = await open()
 *
 * export const handle = async (request: Request, address: string): Promise<Response> =>
 *   (await v1(sallyport, request, { address, base: '/detect' })) ?? new Response('not here', { status: 404 })
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export async function v1(sallyport: ApiHost, request: Request, place: V1Place): Promise<Response | undefined> {
  requireApi(sallyport)
  const answer = answerTo(request, place)
  const path = mountedPath(readTarget(request), trimBase(place.base))
  if (path === undefined || !isApiPath(path)) return undefined
  const answered = await answerApi(sallyport, WEB.receive(sallyport, answer), path, () => readWebJson(request))
  return answered && answer.finish(webResponse(answered, request.method))
}
