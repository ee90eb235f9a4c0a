const FIXED: readonly string[] = ['/robots.txt', '/favicon.ico']

/** Reports whether programs fetch a path, or the paths of a pattern, at a fixed place. */
export function isFixedPlace(path: string): boolean {
  return path.startsWith('/.well-known/') || FIXED.includes(path)
}
