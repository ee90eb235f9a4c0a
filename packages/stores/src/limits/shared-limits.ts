import type { ClientLimit, LimitState, Limits } from '@sallyport/accounts'
import { LRUCache } from 'lru-cache'
import { within } from '../within.ts'
import { countId, createMemoryLimits } from './memory-limits.ts'

export interface SharedLimitsOptions {
  /** Called once at the start of an outage, with the error. */
  readonly onOutage?: (error: unknown) => void
  /** Longest that one request waits for the store, in milliseconds; default 120. */
  readonly deadlineMs?: number
}

const DEADLINE_MS = 120

/** How often the store is tried during an outage. */
const RETRY_MS = 500

const MAX_EXHAUSTED = 50_000

/**
 * Limits in a store that several processes share, and what one process adds to it:
 * - A client known to be exhausted is answered without a query: no call is refunded before its window ends, so that is
 *   exact, and a flood of refused requests costs the store nothing.
 * - While the store cannot count, this process alone counts, at half the rate; nothing is ever let through
 *   uncounted. One request in `RETRY_MS` tries the store, all others answer at once.
 */
export function createSharedLimits(store: Limits, options: SharedLimitsOptions = {}): Limits {
  const { onOutage, deadlineMs = DEADLINE_MS } = options
  const local = createMemoryLimits()
  const exhausted = new LRUCache<string, LimitState>({ max: MAX_EXHAUSTED })
  let retryAt: number | undefined

  async function ask(operation: keyof Limits, limit: ClientLimit, key: string): Promise<LimitState> {
    const id = countId(limit, key)
    const known = exhausted.get(id)
    const leftMs = known === undefined ? 0 : known.resetAt * 1000 - Date.now()
    // A second is the rounding; more than a window: the clock went back, and the store knows.
    if (known !== undefined && leftMs > 0 && leftMs <= (limit.windowSeconds + 1) * 1000) return known
    if (retryAt !== undefined) {
      if (performance.now() < retryAt) return local[operation](halfOf(limit), key)
      retryAt = performance.now() + RETRY_MS
    }
    try {
      const state = await within(deadlineMs, store[operation](limit, key), 'limits')
      retryAt = undefined
      if (!state.allowed) exhausted.set(id, state)
      return state
    } catch (error) {
      if (retryAt === undefined) onOutage?.(error)
      retryAt = performance.now() + RETRY_MS
      return local[operation](halfOf(limit), key)
    }
  }

  return {
    take: (limit, key) => ask('take', limit, key),
    look: (limit, key) => ask('look', limit, key),
  }
}

function halfOf(limit: ClientLimit): ClientLimit {
  return { ...limit, max: Math.max(1, Math.floor(limit.max / 2)) }
}
