/** A rule of robots.txt (RFC 9309 section 2.2.2), and a path that it is about and no narrower one is. */
export interface RobotsPath {
  readonly pattern: string
  readonly probe: string
}

/** No site has it; it stands for whatever is below a path. */
const ANYTHING = 'sallyport-any-path'

/**
 * The robots.txt form of a policy's path pattern; `undefined` for a star within a segment, which means more there.
 * A pattern of robots.txt is a prefix of path and query; `$` ends it, and the longest one that fits counts.
 */
export function robotsPathsOf(pattern: string): readonly RobotsPath[] | undefined {
  const below = pattern.endsWith('/**')
  const stem = below ? pattern.slice(0, -3) : pattern
  if (stem.includes('*')) return undefined
  const path = stem.replace(/\/$/, '')
  const written = escaped(path)
  const under = { pattern: `${written}/`, probe: `${path}/${ANYTHING}` }
  const slashed = exactly(`${written}/`, `${path}/`)
  if (path === '') return below ? [under] : slashed
  return below ? [...exactly(written, path), under] : [...exactly(written, path), ...slashed]
}

/** A path alone, with any query. */
function exactly(written: string, probe: string): readonly RobotsPath[] {
  return [
    { pattern: `${written}$`, probe },
    { pattern: `${written}?`, probe },
  ]
}

/** In ASCII, as crawlers compare it. Before its end a `$` is a letter like others. */
function escaped(path: string): string {
  return encodeURI(decoded(path)).replace(/\?/g, '%3F')
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
