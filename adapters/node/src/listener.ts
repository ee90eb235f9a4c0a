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
import { baseOf, mountedPath } from './request/mounted-path.ts'

/** A request of `node:http` or of `node:http2`. */
export type NodeRequest = IncomingMessage | Http2ServerRequest
/** The response to a `NodeRequest`. */
export type NodeResponse = ServerResponse | Http2ServerResponse

/** A request that was inspected; without `sallyport` where it could not be judged. */
export type Inspected<Request> = Request & { readonly sallyport?: Decision | undefined }

/** Answers requests, as `createServer` takes it. */
export type Handler<Request, Response> = (request: Request, response: Response) => unknown

/** Options of `v1`. */
export interface V1Options {
  /** Path that `/v1` hangs under, as `/detect`; default the root. */
  readonly base?: string | undefined
}

/**
 * A listener for `createServer` of `node:http` and `node:http2` that inspects every request: an enforced block is
 * answered with 403, any other request goes to `handler` with the decision as `request.sallyport` and in its headers.
 * Throws `invalid_config` and `invalid_policy`.
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
 * A listener that answers everything under `<base>/v1` and hands any other request to `handler`. Throws `invalid_config`.
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
  const base = baseOf(options.base)
  return (request, response) => {
    const [req, res] = compatible(request, response)
    const { url: target = '' } = req
    const path = mountedPath(target, base)
    if (path === undefined) {
      handler(request as Inspected<Request>, response)
      return
    }
    const failed = () => rendered(refusal('internal_error'), { id: findObservation(sallyport, req).id })
    void answer(sallyport, req, { res, target, path }).then(
      (answered) => {
        if (answered === undefined) handler(request as Inspected<Request>, response)
        else void sendResponse(res, answered)
      },
      () => void sendResponse(res, failed()),
    )
  }
}

/**
 * Challenges visitors without a pass of a level, at a place of the application's choice: resolves to whether the
 * request may go on, and has answered it where it may not. Holders of such a pass go on, and so do visitors who are
 * never challenged. Throws `invalid_config` and `invalid_policy`.
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
): (request: NodeRequest, response: NodeResponse) => Promise<boolean> {
  const ask = createStepUp(NODE, sallyport, options)
  return async (request, response) => {
    const [req, res] = compatible(request, response)
    const answer = await ask({ req, res })
    if (answer !== undefined) await sendResponse(res, answer)
    return answer === undefined
  }
}

/** Node's compatibility API of HTTP/2 has what is read and written here; its types do not say so. */
function compatible(request: NodeRequest, response: NodeResponse): [IncomingMessage, ServerResponse] {
  return [request as IncomingMessage, response as ServerResponse]
}
