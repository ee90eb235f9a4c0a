import type { ApiResponse, SitePart } from '@sallyport/engine'
import type { Exchange } from '../exchange/exchange.ts'
import type { GateServices } from './options.ts'
import { createRoutes } from './routes.ts'
import type { Route } from './sites.ts'

const PATH = '/robots.txt'

/** Caches robots.txt for an hour: crawlers ask again within a day, whatever the header says. */
const HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'max-age=3600' }

/**
 * Answers GET and HEAD of /robots.txt, for every served site, with what its policy asks of crawlers; `undefined` where the origin answers.
 * No client is refused it: a crawler that may not read robots.txt may assume that everything is allowed (RFC 9309 section 2.3.1.3).
 */
export function createRobots({ host, options, routes, sites }: GateServices) {
  const { robots } = host
  if (robots === undefined || options.robots?.serve !== true) return () => undefined
  const partsOf = createSiteParts(routes)
  const texts = new Map<readonly SitePart[], string>()

  return ({ request }: Exchange): ApiResponse | undefined => {
    const { method, url = '' } = request
    if ((url !== PATH && !url.startsWith(`${PATH}?`)) || (method !== 'GET' && method !== 'HEAD')) return undefined
    const { host: named = request.headers[':authority'] } = request.headers
    const name = typeof named === 'string' ? named : ''
    if (sites.of(name, url) === undefined) return undefined
    const parts = partsOf(name)
    const text = texts.get(parts) ?? robots.call(host, parts)
    texts.set(parts, text)
    return { status: 200, headers: HEADERS, body: text }
  }
}

const NO_PARTS: readonly SitePart[] = []

/** Finds the parts of a host's site: all hosts of the same routes share one list, so that a wildcard makes few lists. */
function createSiteParts(routes: readonly Route[]): (host: string) => readonly SitePart[] {
  if (routes.length === 0) return () => NO_PARTS
  const found = createRoutes(routes)
  const known = new Map<string, readonly SitePart[]>()
  return (host) => {
    const key = found
      .ofHost(host)
      .map((route) => routes.indexOf(route))
      .join()
    const parts = known.get(key) ?? listSiteParts(routes, host)
    known.set(key, parts)
    return parts
  }
}

/** Lists the parts of a host's site, with the rules that decide below the path of each route. */
export function listSiteParts(routes: readonly Route[], host: string): readonly SitePart[] {
  const found = createRoutes(routes)
  const paths = new Set(found.ofHost(host).map(({ path = '/' }) => path))
  return [...paths].map((path) => {
    const near = found.find(host, path) ?? []
    const ruling = near.find(({ policy }) => policy !== undefined)
    const moded = near.find(({ mode }) => mode !== undefined)
    return { path, policy: ruling?.policy, mode: moded?.mode }
  })
}
