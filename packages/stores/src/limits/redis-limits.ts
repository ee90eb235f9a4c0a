import type { ClientLimit, Limits } from '@sallyport/accounts'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'

/** Limits in Redis; `close` ends the connection. */
export interface RedisLimits extends Limits {
  close(): void
}

const PREFIX = 'sallyport'
const CONNECT_MS = 1_000
const RECONNECT_MS = { first: 50, most: 1_000 }

/** How often the server is asked whether it is there, and how many times it may not have answered. */
const PING_MS = 1_000
const SILENT_PINGS = 3

/** Longest wait for the first answers on a new connection. What is sent later puts it off, so that is what pings are for. */
const SILENCE_MS = 3_000

/**
 * Counts clients in the Redis at `url`, shared by any number of nodes. It connects by itself, now and after every
 * outage; a request that cannot be counted now rejects at once when there is no connection, but is not given up when
 * the server is silent: that is for `createSharedLimits`.
 */
export async function openRedisLimits(url: string): Promise<RedisLimits> {
  const { createClient } = await import('@redis/client')
  const limiters = new Map<string, RateLimiterRedis>()
  let unanswered = 0
  let client = newClient()

  function newClient() {
    const made = createClient({
      url,
      // Without this a command waits for a server that may never come.
      disableOfflineQueue: true,
      pingInterval: PING_MS,
      socket: {
        connectTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        reconnectStrategy: (attempt) => Math.min(RECONNECT_MS.first * 2 ** attempt, RECONNECT_MS.most),
      },
    })
    const heard = (): void => {
      unanswered = 0
    }
    // An outage is met and told by the request that it touches.
    return made
      .on('error', () => {})
      .on('ready', heard)
      .on('ping-interval', heard)
  }

  /** Until it is there, or closed. */
  function connect(): Promise<void> {
    return client.connect().then(
      () => {},
      () => {},
    )
  }

  // A connection can end without a word, as when a machine goes; the system would know after a quarter of an hour.
  const watching = setInterval(() => {
    if (!client.isReady || ++unanswered <= SILENT_PINGS) return
    client.destroy()
    limiters.clear()
    client = newClient()
    void connect()
  }, PING_MS).unref()

  function limiterOf({ name, max, windowSeconds }: ClientLimit): RateLimiterRedis {
    const id = `${name} ${max}`
    const known = limiters.get(id)
    if (known !== undefined) return known
    const limiter = new RateLimiterRedis({
      storeClient: client,
      useRedisPackage: true,
      rejectIfRedisNotReady: true,
      keyPrefix: `${PREFIX}:${name}`,
      points: max,
      duration: windowSeconds,
    })
    limiters.set(id, limiter)
    return limiter
  }

  await Promise.race([connect(), new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())])
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
    close() {
      clearInterval(watching)
      if (client.isOpen) client.destroy()
    },
  }
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
