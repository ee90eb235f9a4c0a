import type { RaiseEvent } from '@sallyport/engine'

/** Tracks which servers of origins take no requests, also after a reload, which makes new members of them. */
export type OriginTurns = ReturnType<typeof createOriginTurns>

/** Raises `origin` when a server stops taking requests, and when it answers again. */
export function createOriginTurns(raise: RaiseEvent) {
  const failing = new Set<string>()
  return {
    /** Records that a server takes no requests from now on, and why. */
    fails(origin: string, reason: string): void {
      if (failing.has(origin)) return
      failing.add(origin)
      raise({ kind: 'origin', about: origin, text: `The origin ${origin} is down.`, details: { origin, reason } })
    },
    works(origin: string): void {
      // An origin asks this at each answer.
      if (failing.size === 0 || !failing.delete(origin)) return
      const text = `The origin ${origin} is up again.`
      raise({ kind: 'origin', about: origin, over: true, text, details: { origin } })
    },
  }
}
