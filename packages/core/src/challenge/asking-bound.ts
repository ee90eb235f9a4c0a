import { LRUCache } from 'lru-cache'
import { type CountBucket, clientKey, WIDE_FACTOR } from '../counting/keys.ts'
import type { BoundClient } from '../values/challenge.ts'

/** Bounds of challenges and solutions of one client, in wide steps: all visitors behind a carrier's gateway share an address. */
export const ASKED_AT_ONCE = 600
const EACH_MS = 50

/** Clients that are remembered. */
const MAX_KEPT = 16_384

/** A client that used more than this share of its own bound leaves the last part of a bound around it to others. */
const LITTLE = 1 / 10
const UNKEPT = 3 / 4

/** Buckets of a client in the bounds of challenges: its browser where many share the address, the address, the /48 around that. */
export function challengeBuckets({ address, browser }: BoundClient, ipv6Prefix: number): readonly CountBucket[] {
  const { narrow, wide } = clientKey(address, ipv6Prefix)
  const keys = [browser === undefined ? [] : `${narrow} browser ${browser}`, narrow, wide ?? []].flat()
  return keys.map((key, at) => ({ key, factor: WIDE_FACTOR ** at }))
}

/** The share of a bound around a client that the client may fill, by the share of its own bound that it used. */
export function shareAround(used: number): number {
  return used > LITTLE ? UNKEPT : 1
}

/** Returns whether a client may get a challenge or bring a solution, and counts it; a refused one is not counted. */
export type AskingBound = (client: BoundClient, now: number) => boolean

/**
 * A bound in this process alone, so that it costs less than what it keeps away. It remembers one time for each bucket: that at
 * which the last of all that it had would have been due, one by one.
 */
export function createAskingBound(ipv6Prefix: number): AskingBound {
  const hadBy = new LRUCache<string, number>({ max: MAX_KEPT })
  const whole = ASKED_AT_ONCE * EACH_MS
  return (client, now) => {
    let share = 1
    for (const [at, { key, factor }] of challengeBuckets(client, ipv6Prefix).entries()) {
      const by = Math.max(now, hadBy.get(key) ?? 0) + EACH_MS / factor
      if (by - now > whole * share) return false
      hadBy.set(key, by)
      if (at === 0) share = shareAround((by - now) / whole)
    }
    return true
  }
}
