import { LRUCache } from 'lru-cache'
import { clientKey, WIDE_FACTOR } from '../counting/keys.ts'

/** Challenges and solutions of one client: so many at once, and one more after each of these times (D515). */
export const ASKED_AT_ONCE = 600
const EACH_MS = 50

/** Clients that are remembered. */
const MAX_KEPT = 16_384

/** Returns whether a client may get a challenge or bring a solution, and counts it; a refused one is not counted. */
export type AskingBound = (address: string, now: number) => boolean

/**
 * A bound in this process alone, so that it costs less than what it keeps away. It remembers one time for each client: that at
 * which the last of all that the client had would have been due, one by one.
 */
export function createAskingBound(ipv6Prefix: number): AskingBound {
  const hadBy = new LRUCache<string, number>({ max: MAX_KEPT })
  const takes = (key: string, factor: number, now: number): boolean => {
    const by = Math.max(now, hadBy.get(key) ?? 0) + EACH_MS / factor
    if (by - now > ASKED_AT_ONCE * EACH_MS) return false
    hadBy.set(key, by)
    return true
  }
  return (address, now) => {
    const { narrow, wide } = clientKey(address, ipv6Prefix)
    return takes(narrow, 1, now) && (wide === undefined || takes(wide, WIDE_FACTOR, now))
  }
}
