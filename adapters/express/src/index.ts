import type { Decision } from '@sallyport/core'
import type { ApiHost, Decider, InspectionOptions } from '@sallyport/node'
import { answer, createInspection, type Outcome, requireApi, sendResponse } from '@sallyport/node/internal'
import type { NextFunction, Request, RequestHandler, Response } from 'express'

export { guardUpgrade, type InspectionOptions } from '@sallyport/node'

declare global {
  namespace Express {
    interface Request {
      /** What Sallyport decided; absent before `inspection` has run, and where the request could not be judged. */
      readonly sallyport?: Decision
    }
  }
}

/**
 * Middleware that inspects every request: an enforced block is answered with 403, any other request goes on with the
 * decision as `req.sallyport` and in its headers. Mount it first. With `provenance`, claims are recorded.
 */
export function inspection(sallyport: Decider, options: InspectionOptions<Request> = {}): RequestHandler {
  const inspect = createInspection(sallyport, options)

  function apply({ decision, refusal }: Outcome, req: Request, res: Response, next: NextFunction): void {
    if (decision !== undefined) (req as { sallyport?: Decision }).sallyport = decision
    if (refusal === undefined) next()
    else void sendResponse(res, refusal)
  }

  return (req, res, next) => {
    const outcome = inspect({ req, res, target: req.originalUrl }, req)
    if (outcome instanceof Promise) outcome.then((decided) => apply(decided, req, res, next), next)
    else apply(outcome, req, res, next)
  }
}

/** Middleware that answers everything under `/v1` of where it is mounted: `app.use(v1(sallyport))`, or under a prefix. */
export function v1(sallyport: ApiHost): RequestHandler {
  requireApi(sallyport)
  return (req, res, next) => {
    const place = { res, target: req.originalUrl, path: req.url, body: req.body as unknown }
    // Express 4 knows nothing of promises.
    answer(sallyport, req, place).then((response) => {
      if (response === undefined) next()
      else void sendResponse(res, response)
    }, next)
  }
}
