import { foldCase, readPath } from '@sallyport/core'

/** A part of what is served, and how it is treated. */
export interface RouteMatch {
  /** `shop.example`, or `*.shop.example` for all names below; absent: any. */
  readonly host?: string | undefined
  /** A path, with all below it; absent: all. */
  readonly path?: string | undefined
}

/** Finds the routes of a request, the nearest first. */
export interface Routes<T extends RouteMatch> {
  /** Those of a host, the nearest host and the longest path first. */
  ofHost(host: string): readonly T[]
  /** `undefined` where no route has the host. */
  find(host: string, target: string): readonly T[] | undefined
  /** Returns the routes of all else that servers may read the path as, each list with the nearest first. Mostly there is none. */
  readings(host: string, target: string): readonly Reading<T>[]
}

/** The routes of a path that a server may read from a target. */
export interface Reading<T extends RouteMatch> {
  readonly routes: readonly T[]
  /** They are those of the path as it is read; else of one in another case, which some frameworks route alike. */
  readonly exact: boolean
}

/**
 * Orders routes: an exact host before a star, that before any host; then the longest path. A path is compared by whole
 * segments, as it is written in the request.
 */
export function createRoutes<T extends RouteMatch>(routes: readonly T[]): Routes<T> {
  const sorted = routes.toSorted(
    (one, other) => hostRank(other) - hostRank(one) || startOf(other).length - startOf(one).length,
  )
  const ofHost = (host: string): readonly T[] => {
    const name = nameOf(host)
    return sorted.filter((route) => hasHost(route, name))
  }
  const hasPaths = sorted.some((route) => startOf(route) !== '')
  const canonical = new Map(sorted.map((route) => [route, canonicalStart(route)]))
  const folded = new Map(sorted.map((route) => [route, foldCase(canonicalStart(route))]))
  const below = (routes: readonly T[], path: string, starts: ReadonlyMap<T, string>): readonly T[] =>
    routes.filter((route) => isBelow(path, starts.get(route) as string))

  return {
    ofHost,
    readings(host, target) {
      if (!hasPaths) return []
      const { path, readings = [path] } = readPath(target)
      if (readings.length === 1 && path === pathOf(target) && !/[A-Z%]/.test(path)) return []
      const routes = ofHost(host)
      if (readings.length === 0) {
        // A target with too many readings may mean every route.
        const starts = ['/', ...routes.map((route) => canonical.get(route) as string)]
        return starts.map((start) => ({ routes: below(routes, start, canonical), exact: true }))
      }
      return readings.flatMap((one) => [
        { routes: below(routes, one, canonical), exact: true },
        { routes: below(routes, foldCase(one), folded), exact: false },
      ])
    },
    find(host, target) {
      if (sorted.length === 0) return undefined
      const routes = ofHost(host)
      if (routes.length === 0) return undefined
      const path = withCapitals(pathOf(target))
      return routes.filter((route) => isBelow(path, startOf(route)) || isBelow(path, canonical.get(route) as string))
    },
  }
}

/** The longer a host, the nearer; a star is behind every name. */
function hostRank({ host }: RouteMatch): number {
  if (host === undefined) return 0
  return host.startsWith('*.') ? host.length : 1_000 + host.length
}

/** A Host in lower case, without port and without the dot of a whole name, or several. */
function nameOf(host: string): string {
  const name = host.toLowerCase().replace(/:\d{0,5}$/, '')
  let end = name.length
  while (name.charCodeAt(end - 1) === DOT) end -= 1
  return name.slice(0, end)
}

const DOT = 46
const SLASH = 47

function hasHost({ host }: RouteMatch, name: string): boolean {
  if (host === undefined) return true
  return host.startsWith('*.') ? name.endsWith(host.slice(1).toLowerCase()) : name === host.toLowerCase()
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] as string
}

/** An escape is the same in either case (RFC 3986 6.2.2.1). */
function withCapitals(path: string): string {
  return path.includes('%') ? path.replace(/%[0-9a-f]{2}/gi, (code) => code.toUpperCase()) : path
}

function startOf({ path = '/' }: RouteMatch): string {
  return withCapitals(path.replace(/\/$/, ''))
}

/** As readings of a path are written. */
function canonicalStart(route: RouteMatch): string {
  const start = startOf(route)
  // One character for each byte, as of a target.
  return start === '' ? start : readPath(Buffer.from(start).toString('latin1')).path
}

function isBelow(path: string, start: string): boolean {
  return path.startsWith(start) && (path.length === start.length || path.charCodeAt(start.length) === SLASH)
}
