import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Decision } from '@sallyport/core'
import { refusal, rendered } from './answer/refusal.ts'
import { sendResponse } from './answer/send-response.ts'
import { type ApiHost, answer, requireApi } from './api-answer.ts'
import type { Decider, Outcome } from './decider.ts'
import { createInspection } from './inspection/create-inspection.ts'
import type { InspectionOptions } from './inspection/inspection-options.ts'
import { type ChallengeOptions, createStepUp } from './inspection/step-up.ts'
import { findObservation } from './observation.ts'
import { NODE } from './receive.ts'
import { mountedPath, trimBase } from './request/mounted-path.ts'

/** A request, as `node:http` or `node:http2` receives it. */
export type NodeRequest = IncomingMessage | Http2ServerRequest
/** The response that answers a `NodeRequest`. */
export type NodeResponse = ServerResponse | Http2ServerResponse

/** An inspected request; `sallyport` is absent where the request could not be judged. */
export type Inspected<Request> = Request & { readonly sallyport?: Decision | undefined }

/** Answers requests; `createServer` takes such a function. */
export type Handler<Request, Response> = (request: Request, response: Response) => unknown

/** Configures `v1`. */
export interface V1Options {
  /** The path above `/v1`, such as `/detect`; default: the root. */
  readonly base?: string | undefined
}

/**
 * Creates a listener for `createServer` of `node:http` and `node:http2` that inspects every request. It answers an enforced block with 403,
 * and passes any other request to `handler` with the decision as `request.sallyport` and in its headers. Throws `invalid_config` and
 * `invalid_policy`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { listener, open } from '@sallyport/node'
 *
 * const sallyport = await open()
 * createServer(listener(sallyport, (req, res) => res.end(req.sallyport?.action))).listen(3000)
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function listener<Request extends NodeRequest = IncomingMessage, Response extends NodeResponse = ServerResponse>(
  sallyport: Decider,
  handler: Handler<Inspected<Request>, Response>,
  options: InspectionOptions<NoInfer<Request>> = {},
): (request: Request, response: Response) => void {
  const inspect = createInspection(NODE, sallyport, options)
  return (request, response) => {
    const [req, res] = compatible(request, response)
    const apply = ({ decision, refusal }: Outcome): void => {
      if (decision !== undefined) (request as { sallyport?: Decision | undefined }).sallyport = decision
      if (refusal === undefined) handler(request as Inspected<Request>, response)
      else void sendResponse(res, refusal)
    }
    const outcome = inspect({ req, res }, request)
    if (outcome instanceof Promise) void outcome.then(apply)
    else apply(outcome)
  }
}

/**
 * Creates a listener that answers everything under `<base>/v1` and passes any other request to `handler`. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { listener, open, v1 } from '@sallyport/node'
 *
 * const sallyport = await open()
 * createServer(listener(sallyport, v1(sallyport, (_req, res) => res.end('the site')))).listen(3000)
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export function v1<Request extends NodeRequest = IncomingMessage, Response extends NodeResponse = ServerResponse>(
  sallyport: ApiHost,
  handler: Handler<Inspected<Request>, Response>,
  options: V1Options = {},
): (request: Request, response: Response) => void {
  requireApi(sallyport)
  const base = trimBase(options.base)
  return (request, response) => {
    const [req, res] = compatible(request, response)
    const { url: target = '' } = req
    const path = mountedPath(target, base)
    if (path === undefined) {
      handler(request as Inspected<Request>, response)
      return
    }
    const renderFault = () => rendered(refusal('internal_error'), { id: findObservation(sallyport, req).id })
    void answer(sallyport, req, { res, target, path }).then(
      (answered) => {
        if (answered === undefined) handler(request as Inspected<Request>, response)
        else void sendResponse(res, answered)
      },
      () => void sendResponse(res, renderFault()),
    )
  }
}

/**
 * Challenges visitors without a pass of a level, at a place that the application chooses. Resolves to true where the request may go on;
 * else the request has been answered. With `form` it needs the parsed body. Visitors who hold such a pass, or are never challenged, go on.
 * Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { challenge, listener, open } from '@sallyport/node'
 *
 * const sallyport = await open()
 * const mayBuy = challenge(sallyport, { level: 2 })
 * const shop = listener(sallyport, async (req, res) => {
 *   if (req.url === '/buy' && !(await mayBuy(req, res))) return
 *   res.end('the site')
 * })
 * createServer(shop).listen(3000)
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(
  sallyport: Decider,
  options: ChallengeOptions = {},
): (request: NodeRequest, response: NodeResponse, body?: unknown) => Promise<boolean> {
  const ask = createStepUp(NODE, sallyport, options)
  return async (request, response, body) => {
    const [req, res] = compatible(request, response)
    const answer = await ask({ req, res }, body)
    if (answer !== undefined) await sendResponse(res, answer)
    return answer === undefined
  }
}

/** Converts the types: Node's compatibility API of HTTP/2 has every member that is used here, but its types do not say so. */
function compatible(request: NodeRequest, response: NodeResponse): [IncomingMessage, ServerResponse] {
  return [request as IncomingMessage, response as ServerResponse]
}
