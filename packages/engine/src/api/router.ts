import type { Route } from './route.ts'

/** Says what matches a path. `params` are decoded; `undefined` when the percent-encoding cannot be read. */
export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string | undefined>> }
  | { readonly kind: 'method'; readonly allow: string }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'none' }

interface Pattern {
  readonly path: string
  readonly segments: readonly string[]
  readonly routes: readonly Route[]
}

/** Finds rows by method and percent-encoded path; HEAD is GET. A literal segment wins over a parameter, whatever the order of the rows. */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => Match {
  const patterns = compilePatterns(routes)
  return (method, path) => {
    const segments = path.split('/').map(decode)
    const pattern = patterns.find((candidate) => fits(candidate.segments, segments))
    if (pattern === undefined) return { kind: segments.includes(undefined) ? 'malformed' : 'none' }
    const route = pattern.routes.find((candidate) => candidate.method === (method === 'HEAD' ? 'GET' : method))
    return route === undefined
      ? { kind: 'method', allow: writeAllow(pattern.routes) }
      : { kind: 'route', route, params: readParams(pattern.segments, segments) }
  }
}

/** Puts the most literal first: of two patterns that fit one path, the one with the earlier literal wins. */
function compilePatterns(routes: readonly Route[]): readonly Pattern[] {
  const paths = [...new Set(routes.map(({ path }) => path))]
  const rank = (path: string) => path.replace(/\{[^}]*\}/g, '\u{10ffff}')
  return paths
    .toSorted((x, y) => (rank(x) < rank(y) ? -1 : 1))
    .map((path) => ({ path, segments: path.split('/'), routes: routes.filter((route) => route.path === path) }))
}

function fits(pattern: readonly string[], segments: readonly (string | undefined)[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (isParam(part) ? segments[index] !== '' : segments[index] === part))
  )
}

function readParams(
  pattern: readonly string[],
  segments: readonly (string | undefined)[],
): Readonly<Record<string, string | undefined>> {
  const params: Record<string, string | undefined> = {}
  for (const [index, part] of pattern.entries()) if (isParam(part)) params[part.slice(1, -1)] = segments[index]
  return params
}

function writeAllow(routes: readonly Route[]): string {
  return routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
}

function isParam(part: string): boolean {
  return part.startsWith('{')
}

/** Returns `undefined` for a segment that is not percent-encoded UTF-8. */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
