import { compilePathPattern } from './path-pattern.ts'
import type { RequestPath } from './path-readings.ts'
import { SplitPath } from './split-path.ts'

/** The pattern that a request is for; `undefined` for none of them. */
export type PathTable = (request: RequestPath) => string | undefined

/**
 * Finds which of many path patterns a request is for, as rules that block read it: in any way that an origin may. A target
 * with too many readings counts as written, since a strike is more than a refusal of one request.
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

/** Case and empty segments set aside. */
function foldKey(path: SplitPath): string {
  return path.segments(false).join('/')
}
