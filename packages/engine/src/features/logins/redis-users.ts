import { openRedis } from '#stores/redis'
import type { UserStore } from './user-store.ts'

const PREFIX = 'sallyport:login:'

/** Writes where the text is as it was read, in one step of the server. */
const REPLACE = `
local seen = redis.call('GET', KEYS[1])
if (seen or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

/** Opens the users in Redis, whose server ends them by its own clock. */
export async function openRedisUsers(url: string, now: () => number): Promise<UserStore> {
  const connection = await openRedis(url)
  return {
    read: async (key) => (await connection.client().get(PREFIX + key)) ?? undefined,
    async replace(key, before = '', next, until) {
      const lasts = String(Math.max(1, Math.round(until - now())))
      const written = await connection
        .client()
        .eval(REPLACE, { keys: [PREFIX + key], arguments: [before, next, lasts] })
      return written === 1
    },
    erase: async (key) => (await connection.client().del(PREFIX + key)) > 0,
    close: async () => connection.close(),
  }
}
