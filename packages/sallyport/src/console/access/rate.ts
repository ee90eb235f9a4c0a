/** Clients that are remembered; the one seen longest ago goes first. */
const MAX_CLIENTS = 4_096

/** So many at once, and so many more in a minute. */
export interface RateOptions {
  readonly burst: number
  readonly perMinute: number
}

/** A bucket for each client. */
export interface Rate {
  /** Takes one; otherwise the seconds until there is one again. */
  take(client: string, now: number): number
  /** Whether one could be taken. */
  has(client: string, now: number): boolean
}

interface Bucket {
  readonly left: number
  readonly at: number
}

export function createRate({ burst, perMinute }: RateOptions): Rate {
  const buckets = new Map<string, Bucket>()
  const leftOf = (client: string, now: number): number => {
    const bucket = buckets.get(client)
    if (bucket === undefined) return burst
    return Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) * perMinute) / 60_000)
  }
  return {
    has: (client, now) => leftOf(client, now) >= 1,
    take(client, now) {
      const left = leftOf(client, now)
      if (left < 1) {
        // From now on, so that a clock that was put back does not stop it until then.
        buckets.set(client, { left, at: now })
        return Math.ceil(((1 - left) * 60) / perMinute)
      }
      buckets.delete(client)
      buckets.set(client, { left: left - 1, at: now })
      const [oldest] = buckets.keys()
      if (buckets.size > MAX_CLIENTS && oldest !== undefined) buckets.delete(oldest)
      return 0
    },
  }
}
