import type { IncomingMessage } from 'node:http'
import type { HandoffCheck, HandoffOptions } from '@sallyport/core'
import { createHandoffVerifier } from '@sallyport/core/host'

/** A request of node:http or Express, a context of Koa, or a request of Fastify. */
export type HandoffRequest =
  | IncomingMessage
  | { readonly req: IncomingMessage; readonly originalUrl?: string | undefined }
  | { readonly raw: IncomingMessage }

/**
 * Makes the check, at an origin, that a request came through the gate and was not changed on the way: `sallyport-signature`
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
    const req = messageOf(request)
    // Express rewrites `url` below the path of a router, and Koa may.
    const target =
      'originalUrl' in req && typeof req.originalUrl === 'string' ? req.originalUrl : targetOf(request, req)
    return verifier.check({ method: req.method ?? '', target, fields: req.rawHeaders })
  }
}

function messageOf(request: HandoffRequest): IncomingMessage {
  if ('rawHeaders' in request) return request
  return 'raw' in request ? request.raw : request.req
}

function targetOf(request: HandoffRequest, req: IncomingMessage): string {
  const original = 'originalUrl' in request ? request.originalUrl : undefined
  return original ?? req.url ?? ''
}
