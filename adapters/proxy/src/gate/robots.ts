import type { ApiResponse, SitePart } from '@sallyport/engine'
import type { Exchange } from '../exchange/exchange.ts'
import type { GateParts } from './options.ts'
import { createRoutes } from './routes.ts'
import type { Route } from './sites.ts'

const PATH = '/robots.txt'

/** An hour: crawlers ask again within a day, whatever it says. */
const HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'max-age=3600' }

/**
 * Answers GET and HEAD of /robots.txt, for every site that is served, with what its policy asks of crawlers; `undefined` where it is
 * not answered here. Nobody is refused it: a crawler that may not read it may take everything for allowed (RFC 9309 section 2.3.1.3).
 */
export function createRobots({ sallyport, options, routes, sites }: GateParts) {
  const { robots } = sallyport
  if (robots === undefined || options.robots?.serve !== true) return () => undefined
  const found = createRoutes(routes)
  /** By the routes of a host, of which there are few, however many hosts a star stands for. */
  const texts = new Map<string, string>()

  return ({ request }: Exchange): ApiResponse | undefined => {
    const { method, url = '' } = request
    if ((url !== PATH && !url.startsWith(`${PATH}?`)) || (method !== 'GET' && method !== 'HEAD')) return undefined
    const { host = request.headers[':authority'] } = request.headers
    const name = typeof host === 'string' ? host : ''
    if (sites.of(name, url) === undefined) return undefined
    const ofHost = found.ofHost(name)
    const key = ofHost.map((route) => routes.indexOf(route)).join()
    const text = texts.get(key) ?? robots.call(sallyport, sitePartsOf(routes, name))
    texts.set(key, text)
    return { status: 200, headers: HEADERS, body: text }
  }
}

/** The parts of a host's site: what decides below the path of each of its routes. */
export function sitePartsOf(routes: readonly Route[], host: string): readonly SitePart[] {
  const found = createRoutes(routes)
  const paths = new Set(found.ofHost(host).map(({ path = '/' }) => path))
  return [...paths].map((path) => {
    const near = found.find(host, path) ?? []
    const ruling = near.find(({ policy }) => policy !== undefined)
    const moded = near.find(({ mode }) => mode !== undefined)
    return { path, policy: ruling?.policy, mode: moded?.mode }
  })
}
