/** Limits the clients that are remembered; the one seen longest ago is dropped first. */
const MAX_CLIENTS = 4_096

/** Permits so many at once, and so many more in a minute. */
export interface RateOptions {
  readonly burst: number
  readonly perMinute: number
}

/** Keeps a bucket for each client. */
export interface Rate {
  /** Takes one and returns 0, or returns the seconds until one is available. */
  take(client: string, now: number): number
  /** Reports whether one is available. */
  has(client: string, now: number): boolean
}

interface Bucket {
  readonly left: number
  readonly at: number
}

export function createRate({ burst, perMinute }: RateOptions): Rate {
  const buckets = new Map<string, Bucket>()
  const countLeft = (client: string, now: number): number => {
    const bucket = buckets.get(client)
    if (bucket === undefined) return burst
    return Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) * perMinute) / 60_000)
  }
  return {
    has: (client, now) => countLeft(client, now) >= 1,
    take(client, now) {
      const left = countLeft(client, now)
      if (left < 1) {
        // The time restarts here, so that a clock that was put back does not block the client until then.
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
