import { createPathTable, pathPatternFault, type Rule, readPath } from '@sallyport/core'
import type { LocatedFault } from '#settings'
import type { Config } from './schema.ts'

/** Returns a fault for each decoy that is not a path, or whose path exists: Sallyport would ban its visitors. */
export function decoyFaults(config: Config): readonly LocatedFault[] {
  const { paths } = config.decoys
  const findExisting = existingPaths(config)
  return paths.flatMap((decoy, at) => {
    const message = formFault(decoy) ?? findExisting(decoy) ?? twiceFault(paths, at)
    return message === undefined ? [] : [{ path: ['decoys', 'paths', at], message }]
  })
}

function twiceFault(paths: readonly string[], at: number): string | undefined {
  const earlier = createPathTable(paths.slice(0, at))({ path: paths[at] ?? '' })
  return earlier === undefined ? undefined : 'is listed twice'
}

function formFault(decoy: string): string | undefined {
  if (decoy.includes('*')) return `"${decoy}" is not a plain path: a decoy cannot contain *`
  if (/[?#]/.test(decoy)) return `"${decoy}" is not a plain path: a decoy cannot have a query or fragment`
  return pathPatternFault(decoy)
}

/** Paths that every site has because of RFCs and browsers, or that Sallyport answers. */
const KNOWN: readonly (readonly [string, string])[] = [
  ['/', 'is the home page'],
  ['/robots.txt', 'is requested by every crawler'],
  ['/favicon.ico', 'is requested by every browser'],
  ['/sitemap.xml', 'is requested by crawlers'],
  ['/.well-known/**', 'is requested by programs (RFC 8615)'],
  ['/.sallyport/**', 'belongs to Sallyport'],
]

/** Returns why a path is known to exist; `undefined` for a path that nothing names. */
function existingPaths({ policy, routes, api, robots }: Config): (path: string) => string | undefined {
  const rules = [...policy.rules, ...routes.flatMap(({ policy }) => policy?.rules ?? [])]
  const reasons = new Map<string, string>([
    ...rules.filter(isAboutPages).flatMap(({ id, match }) => {
      const named = (match.path ?? []).map((pattern) => pattern.replace(/\/\*\*$/, '') || '/')
      return named.filter((path) => !path.includes('*')).map((path) => [path, `is a page in the rule "${id}"`] as const)
    }),
    ...routes.map(({ path }) => [path, 'is the path of a route'] as const),
    ...robots.sitemaps.map((url) => [readPath(url).path, 'is a sitemap of robots.sitemaps'] as const),
    [`${api.base}/v1/**`, 'belongs to the API'],
    ...KNOWN,
  ])
  const findInTable = createPathTable([...reasons.keys()])
  return (path) => {
    const found = findInTable({ path })
    return found === undefined ? undefined : `"${path}" ${reasons.get(found)}`
  }
}

/** A rule that blocks a path without a limit does not show that a page exists there. */
function isAboutPages({ action, limit, concurrent }: Rule): boolean {
  return action !== 'block' || limit !== undefined || concurrent !== undefined
}

/** Warns of decoys that count no strike. */
export function decoyWarnings({ decoys: { paths }, policy: { strikes } }: Config): readonly LocatedFault[] {
  const isStruck = strikes?.on.includes('decoy') === true
  if (paths.length === 0)
    return isStruck ? [{ path: ['policy', 'strikes', 'on'], message: 'decoy: decoys.paths is empty' }] : []
  if (!isStruck) return [{ path: ['decoys', 'paths'], message: 'nobody is banned: policy.strikes.on lacks decoy' }]
  if (paths.length > 1) return []
  const message = 'a residential client is banned only after two different decoys. Add a second path'
  return [{ path: ['decoys', 'paths'], message }]
}
