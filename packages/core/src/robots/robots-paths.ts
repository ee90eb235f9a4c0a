import { attempt } from '../attempt.ts'

/** A rule of robots.txt (RFC 9309 section 2.2.2) has a pattern, and a path that it matches and no narrower rule does. */
export interface RobotsPath {
  readonly pattern: string
  readonly probe: string
}

/** No site has this path; it represents all paths below another. */
const ANYTHING = 'sallyport-any-path'

/**
 * Returns the robots.txt form of a policy's path pattern; `undefined` for a star within a segment, which means more there. A pattern of
 * robots.txt is a prefix of path and query; `$` ends it, and the longest one that fits counts.
 */
export function listRobotsPaths(pattern: string): readonly RobotsPath[] | undefined {
  const below = pattern.endsWith('/**')
  const stem = below ? pattern.slice(0, -3) : pattern
  if (stem.includes('*')) return undefined
  const path = stem.replace(/\/$/, '')
  const written = escapePath(path)
  const under = { pattern: `${written}/`, probe: `${path}/${ANYTHING}` }
  const slashed = exactly(`${written}/`, `${path}/`)
  if (path === '') return below ? [under] : slashed
  return below ? [...exactly(written, path), under] : [...exactly(written, path), ...slashed]
}

/** Matches a path alone, with any query. */
function exactly(written: string, probe: string): readonly RobotsPath[] {
  return [
    { pattern: `${written}$`, probe },
    { pattern: `${written}?`, probe },
  ]
}

/** Writes a path in ASCII, as crawlers compare it. A `$` before its end is an ordinary letter. */
function escapePath(path: string): string {
  return encodeURI(attempt(() => decodeURI(path)) ?? path).replace(/\?/g, '%3F')
}
