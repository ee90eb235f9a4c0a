import { LRUCache } from 'lru-cache'
import { clientKey, WIDE_FACTOR } from '../counting/keys.ts'

/** Questions and solutions of one client: so many at once, and one more after each of these times (D515). */
export const ASKED_AT_ONCE = 600
const EACH_MS = 50

/** Clients that are remembered. */
const MAX_KEPT = 16_384

/** Returns whether a client may have a question or bring a solution, and counts it; one that is refused is not counted. */
export type AskingBound = (address: string, now: number) => boolean

/**
 * A bound in this process alone, so that it costs less than what it keeps away. Of each client the time at which all that it
 * had would have been had one by one.
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
