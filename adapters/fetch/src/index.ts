import type { Decision } from '@sallyport/core'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions } from '@sallyport/node'
import {
  answerApi,
  baseOf,
  createInspection,
  createStepUp,
  isApiPath,
  mountedPath,
  requireApi,
  withVerdict,
} from '@sallyport/node/internal'
import {
  answerTo,
  fieldsOf,
  headersOf,
  type RequestOrigin,
  readWebJson,
  targetOf,
  WEB,
  webResponse,
} from './web-request.ts'

export { type ChallengeOptions, type InspectionOptions, open } from '@sallyport/node'
export type { RequestOrigin } from './web-request.ts'

/** The outcome of a request. */
export interface Guarded {
  /** Absent where the request could not be judged. */
  readonly decision?: Decision | undefined
  /** The answer to a request that goes no further; else absent. */
  readonly response?: Response | undefined
  /** The request's headers with the verdict, and without what the visitor sent under our names: hand these on. */
  readonly headers: Headers
  /**
   * The application's response with our headers, ready to be sent. The decision log, metrics and rules that count what
   * is in flight count the request as ended here, so call it once where there is no `response`.
   */
  end(response: Response): Response
}

/** Inspects the requests of one mount. */
export type Guard = (request: Request, place: RequestOrigin) => Promise<Guarded>

/**
 * The inspection of one mount: `guard` with options, which are checked and compiled here. Throws `invalid_config` and
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
        return headersOf(withVerdict(fieldsOf(request), decision))
      },
      end: (answered) => answer.finish(answered),
    }
  }
}

/**
 * Inspects one web request. An enforced block has a `response`. A `Request` does not show the order and the case of its
 * headers, two fields of one name, the path as it was written, the HTTP version and the socket: `address` is the
 * peer's, as the runtime says, and signals that rest on the rest are not there. Rejects with `invalid_config` for a
 * value that is not a Sallyport.
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
 * Challenges visitors without a pass of a level, at a place of the application's choice: resolves to the answer to
 * give, or to `undefined` where the request may go on. Holders of such a pass go on, and so do visitors who are never
 * challenged. Throws `invalid_config` and `invalid_policy`.
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
): (request: Request, place: RequestOrigin) => Promise<Response | undefined> {
  const ask = createStepUp(WEB, sallyport, options)
  return async (request, place) => {
    const answer = answerTo(request, place)
    const asked = await ask(answer)
    return asked && answer.finish(webResponse(asked, request.method))
  }
}

/** Path that `/v1` is mounted at, and the origin of the request. */
export interface V1Place extends RequestOrigin {
  /** Path that `/v1` hangs under, as `/detect`; default the root. */
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
  const path = mountedPath(targetOf(request), baseOf(place.base))
  if (path === undefined || !isApiPath(path)) return undefined
  const answered = await answerApi(sallyport, WEB.receive(sallyport, answer), path, () => readWebJson(request))
  return answered && answer.finish(webResponse(answered, request.method))
}
