import type { RaiseEvent } from '@sallyport/engine'

/** Servers of origins that take no requests, of all that were ever configured: a reload makes other members of them. */
export interface OriginTurns {
  /** It takes no requests from now on, for this reason. */
  fails(origin: string, reason: string): void
  works(origin: string): void
}

/** Raises `origin` when a server takes no requests any more, and when it answers again. */
export function createOriginTurns(raise: RaiseEvent): OriginTurns {
  const failing = new Set<string>()
  return {
    fails(origin, reason) {
      if (failing.has(origin)) return
      failing.add(origin)
      const text = `The origin ${origin} takes no requests.`
      raise({ kind: 'origin', about: origin, text, details: { origin, reason } })
    },
    works(origin) {
      // Asked at each answer.
      if (failing.size === 0 || !failing.delete(origin)) return
      const text = `The origin ${origin} answers again.`
      raise({ kind: 'origin', about: origin, over: true, text, details: { origin } })
    },
  }
}
