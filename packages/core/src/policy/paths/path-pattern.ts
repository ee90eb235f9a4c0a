import { unknown } from '../language/fault.ts'
import { compileGlob } from '../language/glob.ts'
import { foldCase, readPath } from './path-readings.ts'
import { SplitPath, splitSegments } from './split-path.ts'

/** Reports whether a canonical path matches; `exact` requires the same case and the same trailing slash. */
type PathPattern = (path: SplitPath, exact: boolean) => boolean

/** Compiles a pattern as `compilePathPattern` does, for paths that no other pattern reads. */
export function parsePathPattern(pattern: string): (path: string, exact: boolean) => boolean {
  const matches = compilePathPattern(pattern)
  return (path, exact) => matches(new SplitPath(path), exact)
}

/** Returns why a pattern is invalid: it must be written as canonical paths are, with `**` as its last segment only. */
export function pathPatternFault(pattern: string): string | undefined {
  if (!pattern.startsWith('/')) return `${unknown(pattern)}: a path begins with a slash; did you mean "/${pattern}"?`
  if (pattern.split('/').slice(0, -1).includes('**')) return `${unknown(pattern)}: ** must be the last segment`
  // Browsers send UTF-8.
  const { path } = readPath(pattern.replace(/[\u0080-\ud7ff\ue000-\uffff]{1,999}/g, encodeURIComponent))
  return path === pattern ? undefined : `${unknown(pattern)}: write the path as ${JSON.stringify(path)}`
}

/**
 * Compiles a path pattern of a rule: literal segments, `*` for any characters within a segment, a last segment `**` for the path itself and
 * everything below it. Matching is one pass over the segments without a regular expression, so no pattern and no path can make it slow.
 * Unless `exact`, it ignores case and a trailing slash, because some frameworks ignore them when they route.
 */
export function compilePathPattern(pattern: string): PathPattern {
  const below = pattern.endsWith('/**')
  const stem = below ? pattern.slice(0, -3) : pattern
  if (!stem.includes('*')) return literalPattern(stem, below)
  const exactSegments = splitSegments(stem).map(compileGlob)
  const foldedSegments = splitSegments(foldCase(stem)).map(compileGlob)
  return (path, exact) => {
    const segments = path.segments(exact)
    const wanted = exact ? exactSegments : foldedSegments
    if (below ? segments.length < wanted.length : segments.length !== wanted.length) return false
    if (exact && !below && path.text.endsWith('/') !== pattern.endsWith('/')) return false
    return wanted.every((matches, index) => matches(segments[index] ?? ''))
  }
}

/** Compares once where a pattern has no stars; a reading with empty segments has another one without them. */
function literalPattern(stem: string, below: boolean): PathPattern {
  const bare = `/${splitSegments(stem).join('/')}`
  const folded = foldCase(bare)
  const slashed = stem.endsWith('/') && bare !== '/'
  return (path, exact) => {
    const wanted = exact ? bare : folded
    // The length alone decides most comparisons; folding changes the length of escaped letters.
    const { length } = path.text
    const cannot = length < wanted.length || (!below && length > wanted.length + 1)
    if (cannot && (exact || !path.text.includes('%'))) return false
    const text = exact ? path.text : path.folded()
    if (!text.startsWith(wanted)) return false
    if (wanted === '/') return below || text.length === 1
    if (text.length === wanted.length) return below || !exact || !slashed
    if (text.charCodeAt(wanted.length) !== SLASH) return false
    return below || (text.length === wanted.length + 1 && (!exact || slashed))
  }
}

const SLASH = 47
