import type { ObservedRequest } from '@sallyport/core'

/** A request as the console remembers it. */
export interface Remembered {
  readonly observed: ObservedRequest
  /** As it was sent, shortened; absent where it was not decided, or had none. */
  readonly userAgent?: string
}

/** The last requests, oldest first. */
export interface Recent {
  add(one: Remembered): void
  find(id: string): Remembered | undefined
  list(): readonly Remembered[]
}

export function createRecent(capacity: number): Recent {
  const kept: Remembered[] = []
  const byId = new Map<string, Remembered>()
  let next = 0
  return {
    add(one) {
      const before = kept[next]
      if (before !== undefined && byId.get(before.observed.id) === before) byId.delete(before.observed.id)
      kept[next] = one
      byId.set(one.observed.id, one)
      next = (next + 1) % capacity
    },
    find: (id) => byId.get(id),
    list: () => (kept.length < capacity ? [...kept] : [...kept.slice(next), ...kept.slice(0, next)]),
  }
}
