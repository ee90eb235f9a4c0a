import type { ClientLimit, LimitState, Limits } from '@sallyport/accounts'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { openRedis } from '../redis-connection.ts'
import type { RedisOptions } from '../redis-options.ts'

/** Limits in Redis; `close` ends the connection. */
export interface RedisLimits extends Limits {
  close(): void
}

const PREFIX = 'sallyport'

/**
 * Counts clients in the Redis at `url`, shared by any number of nodes. It connects now and again after every outage. A
 * request rejects at once when there is no connection; when the server is silent it stays pending, and
 * `createSharedLimits` gives it up.
 */
export async function openRedisLimits(url: string, options: RedisOptions = {}): Promise<RedisLimits> {
  const limiters = new Map<string, RateLimiterRedis>()
  const connection = await openRedis(url, options, () => limiters.clear())

  function limiterOf({ name, max, windowSeconds }: ClientLimit): RateLimiterRedis {
    const id = `${name} ${max}`
    const known = limiters.get(id)
    if (known !== undefined) return known
    const limiter = new RateLimiterRedis({
      storeClient: connection.client(),
      useRedisPackage: true,
      rejectIfRedisNotReady: true,
      keyPrefix: `${PREFIX}:${name}`,
      points: max,
      duration: windowSeconds,
    })
    limiters.set(id, limiter)
    return limiter
  }

  return {
    async take(limit, key) {
      const { allowed, result } = await consume(limiterOf(limit), key)
      return stateOf(limit, allowed, result.remainingPoints, result.msBeforeNext)
    },
    async look(limit, key) {
      const result = await limiterOf(limit).get(key)
      // No window is open.
      if (result === null) return stateOf(limit, limit.max > 0, limit.max, limit.windowSeconds * 1000)
      return stateOf(limit, result.remainingPoints > 0, result.remainingPoints, result.msBeforeNext)
    },
    close: connection.close,
  }
}

function stateOf({ max }: ClientLimit, allowed: boolean, remaining: number, msBeforeNext: number): LimitState {
  return { allowed, limit: max, remaining, resetAt: Math.ceil((Date.now() + msBeforeNext) / 1000) }
}

/** The library rejects with the result when the limit is exceeded, and with an Error when it could not count. */
async function consume(
  limiter: RateLimiterRedis,
  key: string,
): Promise<{ readonly allowed: boolean; readonly result: RateLimiterRes }> {
  try {
    return { allowed: true, result: await limiter.consume(key) }
  } catch (rejected) {
    if (!(rejected instanceof RateLimiterRes)) throw rejected
    return { allowed: false, result: rejected }
  }
}
