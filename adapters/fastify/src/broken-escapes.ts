import { isApiPath, mountedPath } from '@sallyport/node/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Has paths of the API with broken escapes routed to it: Fastify's router answers them itself, before any hook, route or
 * handler of 404s. A constraint is asked before the router reads the path, and this one, which constrains nothing, has it
 * read such a path with its percent signs escaped. Gives the URL of a request as it was before.
 */
export function readBrokenEscapes(fastify: FastifyInstance): (request: FastifyRequest) => string {
  const received = new WeakMap<object, string>()
  fastify.addConstraintStrategy({
    // A name of a variable, one for each mount.
    name: `sallyport_${Buffer.from(fastify.prefix).toString('hex')}`,
    storage: () => ({ get: () => null, set() {} }),
    // No route has this constraint, and only one that must match is asked all the same; it derives nothing that could.
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
