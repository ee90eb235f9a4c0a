import type { ClientLimit, LimitState, Limits } from '@sallyport/accounts'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'

/** Limits in Redis; `close` ends the connection. */
export interface RedisLimits extends Limits {
  close(): void
}

export interface RedisLimitsOptions {
  /** How often the server is asked whether it is there, in milliseconds; default 1000. */
  readonly pingMs?: number
}

const PREFIX = 'sallyport'
const CONNECT_MS = 1_000
const MIN_RECONNECT_MS = 50
const MAX_RECONNECT_MS = 1_000

const PING_MS = 1_000

/** Pings without an answer, after which the connection is replaced. */
const MAX_SILENT_PINGS = 3

/** Longest silence of a connection on which nothing is sent; what is sent starts it again, hence the pings. */
const SILENCE_MS = 3_000

/**
 * Counts clients in the Redis at `url`, shared by any number of nodes. It connects now and again after every outage. A
 * request rejects at once when there is no connection; when the server is silent it stays pending, and
 * `createSharedLimits` gives it up.
 */
export async function openRedisLimits(
  url: string,
  { pingMs = PING_MS }: RedisLimitsOptions = {},
): Promise<RedisLimits> {
  const { createClient } = await import('@redis/client')
  const limiters = new Map<string, RateLimiterRedis>()
  const connection = keepConnected(
    () => createClient(clientOptions(url, pingMs)),
    pingMs,
    () => limiters.clear(),
  )

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

  await Promise.race([connection.first, new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())])
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

function clientOptions(url: string, pingInterval: number) {
  return {
    url,
    // Otherwise a command waits for a server that may never come.
    disableOfflineQueue: true,
    pingInterval,
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (attempt: number) => Math.min(MIN_RECONNECT_MS * 2 ** attempt, MAX_RECONNECT_MS),
    },
  }
}

/** What is used here of a client of the library, which reconnects until it is destroyed. */
interface Client {
  readonly isReady: boolean
  readonly isOpen: boolean
  connect(): Promise<unknown>
  destroy(): void
  on(event: 'error' | 'ready' | 'ping-interval', listener: () => void): unknown
}

/** Keeps one client, and replaces it when its connection is silent. `first`: the first one is connected, or closed. */
function keepConnected<T extends Client>(create: () => T, pingMs: number, onReplace: () => void) {
  let unanswered = 0
  let client = create()

  function connect(): Promise<void> {
    const onAnswer = (): void => {
      unanswered = 0
    }
    // The request that an outage fails reports it.
    client.on('error', () => {})
    client.on('ready', onAnswer)
    client.on('ping-interval', onAnswer)
    return client.connect().then(
      () => {},
      () => {},
    )
  }

  // A connection can end without a packet, as when a machine fails; TCP finds out after a quarter of an hour.
  const watching = setInterval(() => {
    if (!client.isReady || ++unanswered <= MAX_SILENT_PINGS) return
    client.destroy()
    onReplace()
    client = create()
    void connect()
  }, pingMs).unref()

  return {
    first: connect(),
    client: () => client,
    close(): void {
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
