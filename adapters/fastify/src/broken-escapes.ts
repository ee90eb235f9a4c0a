import { isApiPath, mountedPath } from '@sallyport/node/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Routes paths of the API with broken escapes to the API: Fastify's router answers them itself, before any hook, route or handler of 404s.
 * The router asks a constraint before it reads the path; this constraint restricts nothing, but escapes the percent signs of such a path.
 * Returns a function that gives the URL of a request as received.
 */
export function readBrokenEscapes(fastify: FastifyInstance): (request: FastifyRequest) => string {
  const received = new WeakMap<object, string>()
  fastify.addConstraintStrategy({
    // Each mount needs a name of its own, which must be valid for a variable.
    name: `sallyport_${Buffer.from(fastify.prefix).toString('hex')}`,
    storage: () => ({ get: () => null, set() {} }),
    // No route has this constraint, and the router asks only a constraint that must match; the derived value never can.
    mustMatchWhenDerived: true,
    deriveConstraint(req: { url?: string | undefined; originalUrl?: string | undefined }) {
      const { url = '' } = req
      if (!url.includes('%') || !isApiPath(mountedPath(url, fastify.prefix) ?? '')) return
      const [path = ''] = url.split(/[?#]/, 1)
      if (isReadable(path)) return
      received.set(req, url)
      req.originalUrl ??= url
      req.url = path.replaceAll('%', '%25') + url.slice(path.length)
    },
  })
  return ({ raw, url }) => received.get(raw) ?? url
}

function isReadable(path: string): boolean {
  try {
    decodeURI(path)
    return true
  } catch {
    return false
  }
}
