const FIXED: readonly string[] = ['/robots.txt', '/favicon.ico']

/** Whether programs fetch a path, or the paths of a pattern, at a fixed place. */
export function isFixedPlace(path: string): boolean {
  return path.startsWith('/.well-known/') || FIXED.includes(path)
}
