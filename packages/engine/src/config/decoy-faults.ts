import { createPathTable, pathPatternFault, type Rule, readPath } from '@sallyport/core'
import type { LocatedFault } from '#settings'
import type { Config } from './schema.ts'

/** Decoys that are no path, or one that exists: its visitors would be banned. */
export function decoyFaults(config: Config): readonly LocatedFault[] {
  const { paths } = config.decoys
  const whyOf = existingPaths(config)
  return paths.flatMap((decoy, at) => {
    const message = formFault(decoy) ?? whyOf(decoy) ?? twiceFault(paths, at)
    return message === undefined ? [] : [{ path: ['decoys', 'paths', at], message }]
  })
}

function twiceFault(paths: readonly string[], at: number): string | undefined {
  const earlier = createPathTable(paths.slice(0, at))({ path: paths[at] ?? '' })
  return earlier === undefined ? undefined : 'is there twice'
}

function formFault(decoy: string): string | undefined {
  if (decoy.includes('*')) return `"${decoy}" is not a plain path: a decoy has no star`
  if (/[?#]/.test(decoy)) return `"${decoy}" is not a plain path: a decoy has no query and no fragment`
  return pathPatternFault(decoy)
}

/** Paths that every site has, by RFCs and browsers, or that Sallyport answers. */
const KNOWN: readonly (readonly [string, string])[] = [
  ['/', 'is the first page'],
  ['/robots.txt', 'is asked for by every crawler'],
  ['/favicon.ico', 'is asked for by every browser'],
  ['/sitemap.xml', 'is asked for by crawlers'],
  ['/.well-known/**', 'is asked for by programs (RFC 8615)'],
  ['/.sallyport/**', "is Sallyport's own"],
]

/** Returns why a path is known to exist; `undefined` for a path that nobody names. */
function existingPaths({ policy, routes, api, robots }: Config): (path: string) => string | undefined {
  const rules = [...policy.rules, ...routes.flatMap(({ policy }) => policy?.rules ?? [])]
  const reasons = new Map<string, string>([
    ...rules.filter(isAboutPages).flatMap(({ id, match }) => {
      const named = (match.path ?? []).map((pattern) => pattern.replace(/\/\*\*$/, '') || '/')
      return named
        .filter((path) => !path.includes('*'))
        .map((path) => [path, `is named by the rule "${id}" as a page that is there`] as const)
    }),
    ...routes.map(({ path }) => [path, 'is the path of a route'] as const),
    ...robots.sitemaps.map((url) => [readPath(url).path, 'is a sitemap of robots.sitemaps'] as const),
    [`${api.base}/v1/**`, "is the API's"],
    ...KNOWN,
  ])
  const tableOf = createPathTable([...reasons.keys()])
  return (path) => {
    const found = tableOf({ path })
    return found === undefined ? undefined : `"${path}" ${reasons.get(found)}`
  }
}

/** A rule that refuses a path outright says nothing of a page there. */
function isAboutPages({ action, limit, concurrent }: Rule): boolean {
  return action !== 'block' || limit !== undefined || concurrent !== undefined
}

/** Decoys that strike nobody. */
export function decoyWarnings({ decoys: { paths }, policy: { strikes } }: Config): readonly LocatedFault[] {
  const isStruck = strikes?.on.includes('decoy') === true
  if (paths.length === 0)
    return isStruck ? [{ path: ['policy', 'strikes', 'on'], message: 'decoy: decoys.paths names none' }] : []
  if (!isStruck) return [{ path: ['decoys', 'paths'], message: 'nobody is banned: policy.strikes.on has no decoy' }]
  if (paths.length > 1) return []
  const message = 'a client on a home line is banned only after two different decoys: name two'
  return [{ path: ['decoys', 'paths'], message }]
}
