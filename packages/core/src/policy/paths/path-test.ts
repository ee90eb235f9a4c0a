import type { Inspection } from '../../values/inspection.ts'
import { compilePathPattern } from './path-pattern.ts'
import type { RequestPath } from './path-readings.ts'
import { SplitPath, type SplitRequest } from './split-path.ts'

/**
 * Compiles path patterns to one test. Where origins may read several paths, one matching path is enough to flag or block, and only all of
 * them (`exact`) earn permission.
 */
export function compilePaths(paths: readonly string[], exact: boolean): (request: SplitRequest) => boolean {
  const find = compilePathSearch(paths, exact)
  const matchesAny = (read: SplitPath): boolean => find(read) !== undefined
  return ({ path, readings }) => {
    if (readings === undefined) return matchesAny(path)
    if (readings.length === 0) return !exact
    return exact ? readings.every(matchesAny) : readings.some(matchesAny)
  }
}

/** Compiles a search for the pattern that a path matches. A map finds patterns that are one path among thousands. */
export function compilePathSearch(
  patterns: readonly string[],
  exact: boolean,
): (path: SplitPath) => string | undefined {
  const isLiteral = (pattern: string): boolean => !pattern.includes('*')
  const literals = new Map(patterns.filter(isLiteral).map((text) => [new SplitPath(text).whole(exact), text]))
  const starred = patterns
    .filter((pattern) => !isLiteral(pattern))
    .map((pattern) => ({ pattern, matches: compilePathPattern(pattern) }))
  return (path) => {
    const literal = literals.size > 0 ? literals.get(path.whole(exact)) : undefined
    if (literal !== undefined) return literal
    for (const { pattern, matches } of starred) if (matches(path, exact)) return pattern
    return undefined
  }
}

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

/** Compiles a pattern for paths that no other pattern reads. */
export function parsePathPattern(pattern: string): (path: string, exact: boolean) => boolean {
  const [findExact, findAny] = [compilePathSearch([pattern], true), compilePathSearch([pattern], false)]
  return (path, exact) => (exact ? findExact : findAny)(new SplitPath(path)) !== undefined
}

/** Splits the paths of a request, once for all rules of a policy: `asked.once(splitPaths, inspection)`. */
export function splitPaths(_: unknown, { request: { path, readings } }: Pick<Inspection, 'request'>): SplitRequest {
  return { path: new SplitPath(path), readings: readings?.map((reading) => new SplitPath(reading)) }
}
