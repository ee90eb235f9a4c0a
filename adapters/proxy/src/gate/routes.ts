import { foldCase, readPath } from '@sallyport/core'

/** Names a part of the served sites. */
export interface RouteMatch {
  /** `shop.example` is one host, `*.shop.example` means all names below it; absent: any host. */
  readonly host?: string | undefined
  /** Names a path, which includes all paths below it; absent: all paths. */
  readonly path?: string | undefined
}

/**
 * Finds the routes of a request, the nearest first. Orders routes: an exact host before a wildcard, a wildcard before any host; then the longest path. Paths are compared by whole segments,
 * as the request writes them.
 */
export function createRoutes<T extends RouteMatch>(routes: readonly T[]) {
  const sorted = routes.toSorted(
    (one, other) => hostRank(other) - hostRank(one) || readPrefix(other).length - readPrefix(one).length,
  )
  const ofHost = (host: string): readonly T[] => {
    const name = normaliseHost(host)
    return sorted.filter((route) => hasHost(route, name))
  }
  const hasPaths = sorted.some((route) => readPrefix(route) !== '')
  const canonical = new Map(sorted.map((route) => [route, canonicalStart(route)]))
  const folded = new Map(sorted.map((route) => [route, foldCase(canonicalStart(route))]))
  const below = (routes: readonly T[], path: string, starts: ReadonlyMap<T, string>): readonly T[] =>
    routes.filter((route) => isBelow(path, starts.get(route) as string))

  return {
    /** Lists the routes of a host, by the nearest host and then the longest path. */
    ofHost,
    /**
     * Returns the routes of every other path that servers may read, each list with the nearest first; mostly there are none. A path that is
     * not `exact` differs in case, which some frameworks ignore.
     */
    readings(host: string, target: string): readonly { readonly routes: readonly T[]; readonly exact: boolean }[] {
      if (!hasPaths) return []
      const { path, readings = [path] } = readPath(target)
      if (readings.length === 1 && path === readPathname(target) && !/[A-Z%]/.test(path)) return []
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
    /** Returns `undefined` where no route has the host. */
    find(host: string, target: string): readonly T[] | undefined {
      if (sorted.length === 0) return undefined
      const routes = ofHost(host)
      if (routes.length === 0) return undefined
      const path = capitaliseEscapes(readPathname(target))
      return routes.filter((route) => isBelow(path, readPrefix(route)) || isBelow(path, canonical.get(route) as string))
    },
  }
}

/** Ranks a route by its host: a longer host is nearer, and a wildcard comes after every exact name. */
function hostRank({ host }: RouteMatch): number {
  if (host === undefined) return 0
  return host.startsWith('*.') ? host.length : 1_000 + host.length
}

/** Writes a Host in lower case, without port and without trailing dots. */
function normaliseHost(host: string): string {
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

function readPathname(target: string): string {
  return target.split('?', 1)[0] as string
}

/** Writes escapes in upper case, because an escape has no case (RFC 3986 6.2.2.1). */
function capitaliseEscapes(path: string): string {
  return path.includes('%') ? path.replace(/%[0-9a-f]{2}/gi, (code) => code.toUpperCase()) : path
}

function readPrefix({ path = '/' }: RouteMatch): string {
  return capitaliseEscapes(path.replace(/\/$/, ''))
}

/** Returns the path of a route in the form of readings. */
function canonicalStart(route: RouteMatch): string {
  const start = readPrefix(route)
  // A target has one character for each byte.
  return start === '' ? start : readPath(Buffer.from(start).toString('latin1')).path
}

function isBelow(path: string, start: string): boolean {
  return path.startsWith(start) && (path.length === start.length || path.charCodeAt(start.length) === SLASH)
}
