import type { ApiResponse, SitePart } from '@sallyport/engine'
import type { Exchange } from '../exchange/exchange.ts'
import type { GateOptions, ProxyHost } from './options.ts'
import { createRoutes } from './routes.ts'
import type { Route, Sites, SitesOptions } from './sites.ts'

const PATH = '/robots.txt'

/** Caches robots.txt for an hour: crawlers ask again within a day, whatever the header says. */
const HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'max-age=3600' }

/**
 * Answers GET and HEAD of /robots.txt, for every served site, with what its policy asks of crawlers; `undefined` where the origin answers.
 * No client is refused it: a crawler that may not read robots.txt may assume that everything is allowed (RFC 9309 section 2.3.1.3).
 */
export function createRobots(
  host: ProxyHost,
  sites: Sites,
  options: Pick<GateOptions & SitesOptions, 'robots' | 'routes'>,
) {
  const { routes = [] } = options
  const { robots } = host
  if (robots === undefined || options.robots?.serve !== true) return () => undefined
  const found = createRoutes(routes)
  /** Holds the texts by the routes of a host: all hosts of the same routes share one, so that a wildcard makes few texts. */
  const texts = new Map<string, string>()

  return ({ request, facts }: Exchange): ApiResponse | undefined => {
    const { method, url = '' } = request
    if ((url !== PATH && !url.startsWith(`${PATH}?`)) || (method !== 'GET' && method !== 'HEAD')) return undefined
    const name = facts.host ?? facts.authority ?? ''
    if (sites.of(name, url) === undefined) return undefined
    const key = found
      .ofHost(name)
      .map((route) => routes.indexOf(route))
      .join()
    const text = texts.get(key) ?? robots.call(host, listSiteParts(routes, name))
    texts.set(key, text)
    return { status: 200, headers: HEADERS, body: text }
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
