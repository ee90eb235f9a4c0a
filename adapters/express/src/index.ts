import type { Decision } from '@sallyport/core'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions } from '@sallyport/node'
import {
  answer,
  createInspection,
  createShown,
  createStepUp,
  NODE,
  type Outcome,
  requireApi,
  sendResponse,
} from '@sallyport/node/internal'
import type { NextFunction, Request, RequestHandler, Response } from 'express'

export { type ChallengeOptions, guardUpgrade, type InspectionOptions, open } from '@sallyport/node'

declare global {
  namespace Express {
    interface Request {
      /** Holds the decision; absent before `inspection` has run, and where the request could not be judged. */
      readonly sallyport?: Decision | undefined
    }
  }
}

/**
 * Creates middleware that inspects every request: it answers an enforced block with 403, and any other request goes on with the decision as
 * `req.sallyport` and in its headers. Mount it first. Throws `invalid_config` for an unknown option, and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection, open } from '@sallyport/express'
 * import express from 'express'
 *
 * const app = express()
 * app.use(inspection(await open(), { skip: (req) => req.path === '/health' }))
 * app.get('/', (req, res) => void res.json({ action: req.sallyport?.action }))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function inspection(sallyport: Decider, options: InspectionOptions<Request> = {}): RequestHandler {
  const inspect = createInspection(NODE, sallyport, options)

  const show = createShown()

  function apply({ decision, refusal }: Outcome, req: Request, res: Response, next: NextFunction): void {
    if (decision !== undefined) show(req)
    if (refusal === undefined) next()
    else void sendResponse(res, refusal)
  }

  return (req, res, next) => {
    const outcome = inspect({ req, res, target: req.originalUrl, parsed: () => req.body as unknown }, req)
    if (outcome instanceof Promise) outcome.then((decided) => apply(decided, req, res, next), next)
    else apply(outcome, req, res, next)
  }
}

/**
 * Creates middleware that challenges visitors without a pass of a level, at a place that the application chooses. Visitors who hold such a
 * pass, or are never challenged, go on. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, inspection, open } from '@sallyport/express'
 * import express from 'express'
 *
 * const sallyport = await open()
 * const app = express()
 * app.use(inspection(sallyport))
 * app.get('/buy', challenge(sallyport, { level: 2 }), (_req, res) => void res.send('sold'))
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(sallyport: Decider, options: ChallengeOptions = {}): RequestHandler {
  const ask = createStepUp(NODE, sallyport, options)
  return (req, res, next) => {
    const apply = (refusal: Outcome['refusal']): void => {
      if (refusal === undefined) next()
      else void sendResponse(res, refusal)
    }
    const answer = ask({ req, res, target: req.originalUrl }, req.body as unknown)
    if (answer instanceof Promise) answer.then(apply, next)
    else apply(answer)
  }
}

/**
 * Creates middleware that answers everything under `/v1` of its mount. Throws `invalid_config` for a service without an API.
 *
 * @example
 * ```ts
 * import { open, v1 } from '@sallyport/express'
 * import express from 'express'
 *
 * const app = express()
 * app.use('/detect', v1(await open()))   // POST /detect/v1/ip/lookup
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export function v1(sallyport: ApiHost): RequestHandler {
  requireApi(sallyport)
  return (req, res, next) => {
    const place = { res, target: req.originalUrl, path: req.url, body: req.body as unknown }
    // Express 4 does not await promises.
    answer(sallyport, req, place).then((response) => {
      if (response === undefined) next()
      else void sendResponse(res, response)
    }, next)
  }
}
