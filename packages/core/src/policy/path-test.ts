import type { Inspection } from '../values/inspection.ts'
import { parsePathPattern } from './path-pattern.ts'

/**
 * Whether a request is for one of some paths. Where origins may read several paths, one of them is enough to flag or block,
 * and only all of them (`exact`) earn permission.
 */
export function compilePaths(
  paths: readonly string[],
  exact: boolean,
): (request: Pick<Inspection['request'], 'path' | 'readings'>) => boolean {
  const patterns = paths.map(parsePathPattern)
  const matchesAny = (read: string): boolean => patterns.some((matches) => matches(read, exact))
  return ({ path, readings }) => {
    if (readings === undefined) return matchesAny(path)
    if (readings.length === 0) return !exact
    return exact ? readings.every(matchesAny) : readings.some(matchesAny)
  }
}
