import type { IncomingMessage } from 'node:http'
import type { HandoffCheck, HandoffOptions } from '@sallyport/core'
import { createHandoffVerifier } from '@sallyport/core/host'

/** A request that a check takes: of node:http, Express or Fastify, or a context of Koa. */
export type HandoffRequest =
  | IncomingMessage
  | { readonly req: IncomingMessage; readonly originalUrl?: string | undefined }
  | { readonly raw: IncomingMessage }

/**
 * Creates the check, at an origin, that a request came through the gate unchanged: `sallyport-signature`
 * covers its method, target, Host, client and verdict. An origin that can also be reached in another way refuses the rest.
 * Throws `invalid_config` for keys that cannot be used; the check never throws. Signatures are good for `maxAge` seconds, 60 by default.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { verifyHandoff } from '@sallyport/node'
 *
 * const check = verifyHandoff({ keys: [{ id: 'k1', algorithm: 'hmac-sha256', secret: 'at least 32 characters, kept in secret' }] })
 * createServer((req, res) => {
 *   const came = check(req)
 *   res.writeHead(came.verified ? 200 : 403).end(came.verified ? 'hello' : came.fault)
 * }).listen(3000)
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc9421
 */
export function verifyHandoff(options: HandoffOptions): (request: HandoffRequest) => HandoffCheck {
  const verifier = createHandoffVerifier(options, { now: Date.now })
  return (request) => {
    const req = findMessage(request)
    // Express rewrites `url` below the path of a router, and Koa may.
    const target =
      'originalUrl' in req && typeof req.originalUrl === 'string' ? req.originalUrl : readTarget(request, req)
    return verifier.check({ method: req.method ?? '', target, fields: req.rawHeaders })
  }
}

function findMessage(request: HandoffRequest): IncomingMessage {
  if ('rawHeaders' in request) return request
  return 'raw' in request ? request.raw : request.req
}

function readTarget(request: HandoffRequest, req: IncomingMessage): string {
  const original = 'originalUrl' in request ? request.originalUrl : undefined
  return original ?? req.url ?? ''
}
