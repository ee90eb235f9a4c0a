import { LRUCache } from 'lru-cache'
import { type CountBucket, clientKey, WIDE_FACTOR } from '../counting/keys.ts'
import type { BoundClient } from '../values/challenge.ts'

/** Bounds the challenges and solutions of one client widely: all visitors behind a carrier's gateway share an address. */
export const ASKED_AT_ONCE = 600
const EACH_MS = 50

const MAX_KEPT = 16_384

/** A client that used more than this share of its own bound leaves the last part of a wider bound to others. */
const LITTLE = 1 / 10
const UNKEPT = 3 / 4

/** Returns the buckets of a client in the bounds of challenges: its browser where many share the address, the address, and its /48. */
export function challengeBuckets({ address, browser }: BoundClient) {
  const { narrow, wide } = clientKey(address)
  const keys = [browser === undefined ? [] : `${narrow} browser ${browser}`, narrow, wide ?? []].flat()
  return keys.map((key, at) => ({ key, factor: WIDE_FACTOR ** at })) as [CountBucket, ...CountBucket[]]
}

/** Returns the share of a wider bound that the client may fill, by the share of its own bound that it used. */
export function shareAround(used: number): number {
  return used > LITTLE ? UNKEPT : 1
}

/**
 * Reports whether a client may get a challenge or bring a solution, and counts it; a refused one is not counted. Bounds clients in this
 * process alone, so that the bound costs less than the work it prevents. Each bucket keeps one time: when the last
 * of its units would have been due, one by one.
 */
export function createAskingBound(): (client: BoundClient, now: number) => boolean {
  const hadBy = new LRUCache<string, number>({ max: MAX_KEPT })
  const whole = ASKED_AT_ONCE * EACH_MS
  return (client, now) => {
    let share = 1
    for (const [at, { key, factor }] of challengeBuckets(client).entries()) {
      const by = Math.max(now, hadBy.get(key) ?? 0) + EACH_MS / factor
      if (by - now > whole * share) return false
      hadBy.set(key, by)
      if (at === 0) share = shareAround((by - now) / whole)
    }
    return true
  }
}
