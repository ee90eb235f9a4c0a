import { compilePathPattern } from './path-pattern.ts'
import type { RequestPath } from './path-readings.ts'
import { SplitPath } from './split-path.ts'

/** Returns the pattern that a request matches; `undefined` where it matches none. */
export type PathTable = (request: RequestPath) => string | undefined

/**
 * Finds which of many path patterns a request matches, as rules that block read it: in any way that an origin may. A target with too many
 * readings counts only as written, since a strike is more than a refusal of one request.
 */
export function createPathTable(patterns: readonly string[]): PathTable {
  const plain = new Map(patterns.filter((it) => !it.includes('*')).map((it) => [foldKey(new SplitPath(it)), it]))
  const starred = patterns
    .filter((it) => it.includes('*'))
    .map((pattern) => ({ pattern, matches: compilePathPattern(pattern) }))

  function find(text: string): string | undefined {
    const path = new SplitPath(text)
    return plain.get(foldKey(path)) ?? starred.find(({ matches }) => matches(path, false))?.pattern
  }

  return ({ path, readings = [] }) => {
    const found = find(path)
    if (found !== undefined) return found
    for (const reading of readings) {
      const other = find(reading)
      if (other !== undefined) return other
    }
    return undefined
  }
}

/** Ignores case and empty segments. */
function foldKey(path: SplitPath): string {
  return path.segments(false).join('/')
}
