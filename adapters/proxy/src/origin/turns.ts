import type { RaiseEvent } from '@sallyport/engine'

/** Tracks which servers of origins take no requests, also after a reload, which makes new members of them. */
export interface OriginTurns {
  /** Records that a server takes no requests from now on, and why. */
  fails(origin: string, reason: string): void
  works(origin: string): void
}

/** Raises `origin` when a server stops taking requests, and when it answers again. */
export function createOriginTurns(raise: RaiseEvent): OriginTurns {
  const failing = new Set<string>()
  return {
    fails(origin, reason) {
      if (failing.has(origin)) return
      failing.add(origin)
      const text = `The origin ${origin} is down.`
      raise({ kind: 'origin', about: origin, text, details: { origin, reason } })
    },
    works(origin) {
      // An origin asks this at each answer.
      if (failing.size === 0 || !failing.delete(origin)) return
      const text = `The origin ${origin} is up again.`
      raise({ kind: 'origin', about: origin, over: true, text, details: { origin } })
    },
  }
}
