import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import { sendResponse } from './answer/send-response.ts'
import { type ApiHost, answer, requireApi } from './api-answer.ts'
import type { Decider, Outcome } from './decider.ts'
import { createInspection } from './inspection/create-inspection.ts'
import type { InspectionOptions } from './inspection/inspection-options.ts'
import { type ChallengeOptions, createStepUp } from './inspection/step-up.ts'
import type { V1Options } from './listener.ts'
import { NODE } from './receive.ts'
import { baseOf, mountedPath } from './request/mounted-path.ts'

type Next = (stop?: unknown) => void

/** A handler of restify; after `next(false)` no other runs. */
export type RestifyHandler<Request = IncomingMessage> = (request: Request, response: ServerResponse, next: Next) => void

/**
 * Handler for `server.pre` that inspects every request, before restify looks for a route: an enforced block is answered with
 * 403, any other request goes on with the decision as `request.sallyport` and in its headers. Use it first. Throws
 * `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection } from '@sallyport/node/restify'
 * import { createServer } from 'restify'
 * import { open } from 'sallyport'
 *
 * const server = createServer()
 * server.pre(inspection(await open()))
 * server.get('/', (req, res, next) => next(res.send({ action: req.headers['sallyport-action'] })))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function inspection<Request extends IncomingMessage = IncomingMessage>(
  sallyport: Decider,
  options: InspectionOptions<NoInfer<Request>> = {},
): RestifyHandler<Request> {
  const inspect = createInspection(NODE, sallyport, options)
  return (req, res, next) => {
    const apply = ({ decision, refusal }: Outcome): void => {
      if (decision !== undefined) (req as { sallyport?: Decision | undefined }).sallyport = decision
      goOn(res, refusal, next)
    }
    const outcome = inspect({ req, res }, req)
    if (outcome instanceof Promise) void outcome.then(apply)
    else apply(outcome)
  }
}

/**
 * Handler for routes that challenges visitors without a pass of a level, at a place of the application's choice. Holders of
 * such a pass go on, and so do visitors who are never challenged. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, inspection } from '@sallyport/node/restify'
 * import { createServer } from 'restify'
 * import { open } from 'sallyport'
 *
 * const sallyport = await open()
 * const server = createServer()
 * server.pre(inspection(sallyport))
 * server.get('/buy', challenge(sallyport, { level: 2 }), (_req, res, next) => next(res.send('sold')))
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(sallyport: Decider, options: ChallengeOptions = {}): RestifyHandler {
  const ask = createStepUp(NODE, sallyport, options)
  return (req, res, next) => void Promise.resolve(ask({ req, res })).then((asked) => goOn(res, asked, next), next)
}

/**
 * Handler for `server.pre` that answers everything under `<base>/v1`; any other path goes on. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { v1 } from '@sallyport/node/restify'
 * import { createServer } from 'restify'
 * import { open } from 'sallyport'
 *
 * createServer().pre(v1(await open(), { base: '/detect' }))   // POST /detect/v1/ip/lookup
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export function v1(sallyport: ApiHost, options: V1Options = {}): RestifyHandler {
  requireApi(sallyport)
  const base = baseOf(options.base)
  return (req, res, next) => {
    const { url: target = '', body } = req as IncomingMessage & { readonly body?: unknown }
    const path = mountedPath(target, base)
    if (path === undefined) next()
    else void answer(sallyport, req, { res, target, path, body }).then((answered) => goOn(res, answered, next), next)
  }
}

/** Restify counts a request as in flight until its last handler has called `next`. */
function goOn(res: ServerResponse, response: ApiResponse | undefined, next: Next): void {
  if (response === undefined) next()
  else void sendResponse(res, response).then(() => next(false))
}
