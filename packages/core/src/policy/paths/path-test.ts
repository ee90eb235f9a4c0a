import type { Inspection } from '../../values/inspection.ts'
import { compilePathPattern } from './path-pattern.ts'
import { SplitPath, type SplitRequest } from './split-path.ts'

/**
 * Compiles path patterns to one test. Where origins may read several paths, one matching path is enough to flag or block, and only all of
 * them (`exact`) earn permission.
 */
export function compilePaths(paths: readonly string[], exact: boolean): (request: SplitRequest) => boolean {
  const literals = new Set(paths.filter(isLiteral).map((path) => new SplitPath(path).whole(exact)))
  const patterns = paths.filter((path) => !isLiteral(path)).map(compilePathPattern)
  const matchesAny = (read: SplitPath): boolean => {
    if (literals.size > 0 && literals.has(read.whole(exact))) return true
    for (const matches of patterns) if (matches(read, exact)) return true
    return false
  }
  return ({ path, readings }) => {
    if (readings === undefined) return matchesAny(path)
    if (readings.length === 0) return !exact
    return exact ? readings.every(matchesAny) : readings.some(matchesAny)
  }
}

/** Reports whether a pattern is one path, which a set finds among thousands. */
function isLiteral(path: string): boolean {
  return !path.includes('*')
}

/** Splits the paths of a request, once for all rules of a policy: `asked.once(splitPaths, inspection)`. */
export function splitPaths(_: unknown, { request: { path, readings } }: Pick<Inspection, 'request'>): SplitRequest {
  return { path: new SplitPath(path), readings: readings?.map((reading) => new SplitPath(reading)) }
}
