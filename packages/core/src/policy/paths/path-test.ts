import { compilePathPattern } from './path-pattern.ts'
import { createPathSplitter, type PathOfRequest, type SplitPath } from './split-path.ts'

/**
 * Whether a request is for one of some paths. Where origins may read several paths, one of them is enough to flag or block,
 * and only all of them (`exact`) earn permission. `splitter` is that of all tests of a policy.
 */
export function compilePaths(
  paths: readonly string[],
  exact: boolean,
  splitter = createPathSplitter(),
): (request: PathOfRequest) => boolean {
  const patterns = paths.map(compilePathPattern)
  const matchesAny = (read: SplitPath): boolean => patterns.some((matches) => matches(read, exact))
  return (request) => {
    const { path, readings } = splitter(request)
    if (readings === undefined) return matchesAny(path)
    if (readings.length === 0) return !exact
    return exact ? readings.every(matchesAny) : readings.some(matchesAny)
  }
}
