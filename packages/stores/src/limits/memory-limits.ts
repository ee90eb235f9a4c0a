import type { ClientLimit, Limits } from '@sallyport/accounts'
import { LRUCache } from 'lru-cache'

export interface MemoryLimitsOptions {
  /** Most counts that are held, and as many again of exhausted ones. */
  readonly maxKeys?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** Some 20 MB when full. */
const MAX_KEYS = 50_000

interface Window {
  used: number
  readonly endsAt: number
}

/**
 * Counts clients in the memory of this process; another process counts its own. Memory is bounded: of more keys than
 * `maxKeys` the one longest unseen is forgotten. An exhausted key is held apart, so that no number of other keys makes it
 * forgotten while it is not asked for; only `maxKeys` exhausted ones after it do.
 */
export function createMemoryLimits({ maxKeys = MAX_KEYS, now = Date.now }: MemoryLimitsOptions = {}): Limits {
  const counting = new LRUCache<string, Window>({ max: maxKeys })
  const exhausted = new LRUCache<string, Window>({ max: maxKeys })

  function windowOf(id: string, { windowSeconds }: ClientLimit): Window {
    const time = now()
    const known = exhausted.get(id) ?? counting.get(id)
    if (known !== undefined && known.endsAt > time) return known
    exhausted.delete(id)
    const window = { used: 0, endsAt: time + windowSeconds * 1000 }
    counting.set(id, window)
    return window
  }

  return {
    async take(limit, key) {
      const id = countId(limit, key)
      const window = windowOf(id, limit)
      const allowed = window.used < limit.max
      if (allowed) window.used++
      if (window.used >= limit.max && counting.delete(id)) exhausted.set(id, window)
      return {
        allowed,
        limit: limit.max,
        remaining: Math.max(0, limit.max - window.used),
        resetAt: Math.ceil(window.endsAt / 1000),
      }
    },
  }
}

/** What a client is counted under in every store: limits of one name share one count. */
export function countId({ name }: ClientLimit, key: string): string {
  return `${name} ${key}`
}
