import type { ClientLimit, Limits } from '@sallyport/accounts'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

/** Counts clients in the memory of this process; another process counts its own. */
export function createMemoryLimits(): Limits {
  const limiters = new Map<string, RateLimiterMemory>()

  function limiterOf({ name, max, windowSeconds }: ClientLimit): RateLimiterMemory {
    const known = limiters.get(name)
    if (known !== undefined) return known
    const limiter = new RateLimiterMemory({ keyPrefix: name, points: max, duration: windowSeconds })
    limiters.set(name, limiter)
    return limiter
  }

  return {
    async take(limit, key) {
      const { allowed, result } = await consume(limiterOf(limit), key)
      return {
        allowed,
        limit: limit.max,
        remaining: result.remainingPoints,
        resetAt: Math.ceil((Date.now() + result.msBeforeNext) / 1000),
      }
    },
  }
}

/** The library rejects with the result when the limit is exceeded, and with an Error when it could not count. */
async function consume(
  limiter: RateLimiterMemory,
  key: string,
): Promise<{ readonly allowed: boolean; readonly result: RateLimiterRes }> {
  try {
    return { allowed: true, result: await limiter.consume(key) }
  } catch (rejected) {
    if (!(rejected instanceof RateLimiterRes)) throw rejected
    return { allowed: false, result: rejected }
  }
}
