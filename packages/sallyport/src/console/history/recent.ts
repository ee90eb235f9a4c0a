import type { ObservedRequest } from '@sallyport/core'

/** A request as the console remembers it. */
export interface Remembered {
  readonly observed: ObservedRequest
}

/** The last requests, oldest first. */
export interface Recent {
  add(one: Remembered): void
  find(id: string): Remembered | undefined
  list(): readonly Remembered[]
  /** How many there were in all. */
  readonly count: number
  /** Those that came after the first `count`, as far as they are kept. */
  since(count: number): readonly Remembered[]
}

export function createRecent(capacity: number): Recent {
  const kept: Remembered[] = []
  const byId = new Map<string, Remembered>()
  let next = 0
  let count = 0
  const list = (): readonly Remembered[] =>
    kept.length < capacity ? [...kept] : [...kept.slice(next), ...kept.slice(0, next)]
  return {
    add(one) {
      const before = kept[next]
      if (before !== undefined && byId.get(before.observed.id) === before) byId.delete(before.observed.id)
      kept[next] = one
      byId.set(one.observed.id, one)
      next = (next + 1) % capacity
      count++
    },
    find: (id) => byId.get(id),
    list,
    get count() {
      return count
    },
    since(before) {
      const fresh = Math.min(count - before, kept.length)
      if (fresh <= 0) return []
      const begin = (next - fresh + capacity) % capacity
      return begin < next ? kept.slice(begin, next) : [...kept.slice(begin), ...kept.slice(0, next)]
    },
  }
}
