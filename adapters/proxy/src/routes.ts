/** A path with all below it, and how it is treated. */
export interface Route {
  readonly path: string
  /** Answers may pause for as long as they like. */
  readonly stream?: boolean
}

/** Finds the route of a request target: the longest path that it begins with, by whole segments. */
export function createRoutes(routes: readonly Route[]): (target: string) => Route | undefined {
  const sorted = routes.toSorted((one, other) => other.path.length - one.path.length)
  return (target) => {
    if (sorted.length === 0) return undefined
    const path = target.split('?', 1)[0] as string
    return sorted.find((route) => {
      const start = route.path.replace(/\/$/, '')
      return path === start || path.startsWith(`${start}/`)
    })
  }
}
