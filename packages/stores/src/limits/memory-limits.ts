import type { ClientLimit, LimitState, Limits } from '@sallyport/accounts'
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
  readonly used: number
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

  /** The window that is open, else a new one, which nothing holds yet. */
  function windowOf(id: string, { windowSeconds }: ClientLimit): Window {
    const time = now()
    const known = exhausted.get(id) ?? counting.get(id)
    const endsAt = time + windowSeconds * 1000
    if (known === undefined || known.endsAt <= time) return { used: 0, endsAt }
    if (known.endsAt <= endsAt) return known
    // A clock that went back holds nobody out for longer than a window.
    const rewound = { used: known.used, endsAt }
    for (const holder of [counting, exhausted]) if (holder.has(id)) holder.set(id, rewound)
    return rewound
  }

  return {
    async take(limit, key) {
      const id = countId(limit, key)
      const open = windowOf(id, limit)
      const allowed = open.used < limit.max
      const window = allowed ? { ...open, used: open.used + 1 } : open
      const [holder, other] = window.used < limit.max ? [counting, exhausted] : [exhausted, counting]
      other.delete(id)
      holder.set(id, window)
      return stateOf(limit, allowed, window)
    },
    async look(limit, key) {
      const window = windowOf(countId(limit, key), limit)
      return stateOf(limit, window.used < limit.max, window)
    },
  }
}

/** The state of a window that ends at `endsAt`, milliseconds since the epoch. */
export function stateOf({ max }: ClientLimit, allowed: boolean, { used, endsAt }: Window): LimitState {
  return { allowed, limit: max, remaining: Math.max(0, max - used), resetAt: Math.ceil(endsAt / 1000) }
}

/** A client's key in every store: limits of one name share one count. */
export function countId({ name }: ClientLimit, key: string): string {
  return `${name} ${key}`
}
