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
}

/**
 * Orders routes: an exact host before a star, that before any host; then the longest path. A path is compared by whole
 * segments, as it is written in the request.
 */
export function createRoutes<T extends RouteMatch>(routes: readonly T[]): Routes<T> {
  const sorted = routes.toSorted(
    (one, other) => hostRank(other) - hostRank(one) || pathOf(other).length - pathOf(one).length,
  )
  const ofHost = (host: string): readonly T[] => {
    const name = nameOf(host)
    return sorted.filter((route) => hasHost(route, name))
  }
  return {
    ofHost,
    find(host, target) {
      if (sorted.length === 0) return undefined
      const routes = ofHost(host)
      if (routes.length === 0) return undefined
      const path = target.split('?', 1)[0] as string
      return routes.filter((route) => hasPath(route, path))
    },
  }
}

/** The longer a host, the nearer; a star is behind every name. */
function hostRank({ host }: RouteMatch): number {
  if (host === undefined) return 0
  return host.startsWith('*.') ? host.length : 1_000 + host.length
}

/** A Host in lower case, without port and without the dot of a whole name. */
function nameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '')
}

function hasHost({ host }: RouteMatch, name: string): boolean {
  if (host === undefined) return true
  return host.startsWith('*.') ? name.endsWith(host.slice(1).toLowerCase()) : name === host.toLowerCase()
}

function pathOf({ path = '/' }: RouteMatch): string {
  return path.replace(/\/$/, '')
}

function hasPath(route: RouteMatch, path: string): boolean {
  const start = pathOf(route)
  return path === start || path.startsWith(`${start}/`)
}
