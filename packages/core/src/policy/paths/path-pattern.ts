import { unknown } from '../language/fault.ts'
import { compileGlob } from '../language/glob.ts'
import { foldCase, readPath } from './path-readings.ts'
import { type SplitPath, splitSegments } from './split-path.ts'

/** Reports whether a canonical path matches; `exact` requires the same case and the same trailing slash. */
type PathPattern = (path: SplitPath, exact: boolean) => boolean

/** Returns why a pattern is invalid: it must be written as canonical paths are, with `**` as its last segment only. */
export function pathPatternFault(pattern: string): string | undefined {
  if (!pattern.startsWith('/')) return `${unknown(pattern)}: a path begins with a slash; did you mean "/${pattern}"?`
  if (pattern.split('/').slice(0, -1).includes('**')) return `${unknown(pattern)}: ** must be the last segment`
  // Browsers send UTF-8.
  const { path } = readPath(pattern.replace(/[\u0080-\ud7ff\ue000-\uffff]{1,999}/g, encodeURIComponent))
  return path === pattern ? undefined : `${unknown(pattern)}: write the path as ${JSON.stringify(path)}`
}

/**
 * Compiles a path pattern of a rule that has a star: `*` for any characters within a segment, a last segment `**` for the path itself and
 * everything below it. Matching is one pass over the segments without a regular expression, so no pattern and no path can make it slow.
 * Unless `exact`, it ignores case and a trailing slash, because some frameworks ignore them when they route.
 */
export function compilePathPattern(pattern: string): PathPattern {
  const below = pattern.endsWith('/**')
  const stem = below ? pattern.slice(0, -3) : pattern
  if (!stem.includes('*')) return compileFolder(stem)
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

/** Compares once where only `**` is a star; a reading with empty segments has another one without them. */
function compileFolder(stem: string): PathPattern {
  const bare = `/${splitSegments(stem).join('/')}`
  const folded = foldCase(bare)
  return (path, exact) => {
    const wanted = exact ? bare : folded
    // The length alone decides most comparisons; folding changes the length of escaped letters.
    if (path.text.length < wanted.length && (exact || !path.text.includes('%'))) return false
    const text = exact ? path.text : path.folded()
    return text.startsWith(wanted) && (wanted === '/' || text.length === wanted.length || text[wanted.length] === '/')
  }
}
