import type { RequestPath } from './path-readings.ts'
import { compilePathSearch } from './path-test.ts'
import { SplitPath } from './split-path.ts'

/**
 * Finds which of many path patterns a request matches, as rules that block read it: in any way that an origin may. A target with too many
 * readings counts only as written, since a strike is more than a refusal of one request.
 */
export function createPathTable(patterns: readonly string[]): (request: RequestPath) => string | undefined {
  const find = compilePathSearch(patterns, false)
  return ({ path, readings = [] }) => {
    for (const text of [path, ...readings]) {
      const found = find(new SplitPath(text))
      if (found !== undefined) return found
    }
    return undefined
  }
}
