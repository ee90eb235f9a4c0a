/** Limits the clients that are remembered; the one seen longest ago is dropped first. */
const MAX_CLIENTS = 4_096

/** Creates a bucket for each client. The function takes one of it and returns 0, or returns the seconds until one is available. */
export function createRate({ burst, perMinute }: Readonly<Record<'burst' | 'perMinute', number>>) {
  const buckets = new Map<string, { readonly left: number; readonly at: number }>()
  return (client: string, now: number): number => {
    const bucket = buckets.get(client) ?? { left: burst, at: now }
    const left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) * perMinute) / 60_000)
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
  }
}
