import type { Decision, RequestVerdict } from '@sallyport/core'
import {
  type ApiHost,
  answer,
  attestRequest,
  type ClaimOptions,
  claimOf,
  type Decider,
  decideRequest,
  type Ruling,
  requireApi,
  requireAttester,
  requireDecider,
  sendResponse,
} from '@sallyport/node'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { shareHiddenClass } from './hidden-class.ts'

export { guardUpgrade } from '@sallyport/node'

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
export function inspection(sallyport: Decider, options: ClaimOptions<Request> = {}): RequestHandler {
  requireDecider(sallyport)
  const attester = requireAttester(sallyport, options)
  const hold = createHolder()

  function carryOut({ verdict, refusal }: Ruling, req: Request, res: Response, next: NextFunction): void {
    if (verdict !== undefined) hold(req, verdict)
    if (refusal === undefined) next()
    else void sendResponse(res, refusal)
  }

  return (req, res, next) => {
    shareHiddenClass(req)
    const claim = claimOf(options, req)
    if (attester === undefined || claim === undefined) {
      carryOut(decideRequest(sallyport, req, req.originalUrl), req, res, next)
    } else {
      attestRequest(attester, req, claim, req.originalUrl).then((ruling) => carryOut(ruling, req, res, next), next)
    }
  }
}

/** Where a request has its verdict: the same for every copy of this package. */
const VERDICT: unique symbol = Symbol.for('@sallyport/express')

interface Held {
  [VERDICT]?: RequestVerdict
}

/**
 * Makes decisions readable as `req.sallyport`: a getter on the application's request prototype makes one out of the
 * verdict when it is first read. A getter on each request would cost as much as the inspection.
 */
function createHolder(): (req: Request & Held, verdict: RequestVerdict) => void {
  let prepared: object | undefined
  return (req, verdict) => {
    req[VERDICT] = verdict
    const prototype: object = Object.getPrototypeOf(req)
    if (prototype === prepared) return
    prepared = prototype
    if ('sallyport' in req) return
    // Not in the types of the framework, and documented since 4.0: the prototype of `req` in this application.
    const { request } = req.app as unknown as { readonly request: object }
    Object.defineProperty(request, 'sallyport', {
      configurable: true,
      get(this: Held) {
        return this[VERDICT]?.decision()
      },
    })
  }
}

/** Middleware that answers everything under `/v1` of where it is mounted: `app.use(v1(sallyport))`, or under a prefix. */
export function v1(sallyport: ApiHost): RequestHandler {
  requireApi(sallyport)
  return (req, res, next) => {
    const place = { target: req.originalUrl, path: req.url, body: req.body as unknown }
    // Express 4 knows nothing of promises.
    answer(sallyport, req, place).then((response) => {
      if (response === undefined) next()
      else void sendResponse(res, response)
    }, next)
  }
}
