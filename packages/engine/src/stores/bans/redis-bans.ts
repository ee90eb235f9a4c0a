import type { RedisClientType } from '@redis/client'
import type { Ban, BanList } from '@sallyport/core'
import type { Closable } from '../closable.ts'
import { openRedis } from '../redis-connection.ts'
import { createKnownBans, type KnownBansOptions, type Lift, LOOK_MS, MAX_BANS, makeLift } from './known-bans.ts'

export interface RedisBansOptions extends KnownBansOptions {
  readonly onFault?: ((error: unknown) => void) | undefined
}

/**
 * Each ban has one key, which ends with it by the clock of the server, since the clock of one node may be wrong; there are the ids of all,
 * the soonest to end first; and a number grows with every change.
 */
const PREFIX = 'sallyport:{bans}:'
const IDS = `${PREFIX}ids`
const VERSION = `${PREFIX}version`
const LIFT = `${PREFIX}lift:`
const LIFTS = `${PREFIX}lifts`

/**
 * Opens the bans in the Redis at `url`, for any number of nodes: what one writes is found in the others within a quarter of a second.
 * During an outage known bans stay, and new bans hold in the process that made them.
 */
export async function openRedisBans(url: string, options: RedisBansOptions = {}): Promise<BanList & Closable> {
  const { now = Date.now, most = MAX_BANS, onFault } = options
  const connection = await openRedis(url)
  // Not written: the clock of another node may be right.
  const known = createKnownBans({ now, most })
  let seen: string | null | undefined
  let looking = false
  let failing = false

  async function look(): Promise<void> {
    const client = connection.client()
    const version = await client.get(VERSION)
    if (version === seen) return
    known.replace(await readAll<Ban>(client, IDS, PREFIX), await readAll<Lift>(client, LIFTS, LIFT))
    seen = version
  }

  async function lookAgain(): Promise<void> {
    if (looking) return
    looking = true
    try {
      await look()
      failing = false
    } catch (error) {
      if (!failing) onFault?.(error)
      failing = true
    } finally {
      looking = false
    }
  }

  const timer = setInterval(() => void lookAgain(), LOOK_MS).unref()
  await look().catch(() => {})

  return {
    find: known.find,
    async put(ban) {
      const isDue = known.hold(ban)
      const client = connection.client()
      await client
        .multi()
        .set(PREFIX + ban.id, JSON.stringify(ban), expireAfter(ban.until - now()))
        .zAdd(IDS, { score: ban.until, value: ban.id })
        .incr(VERSION)
        .exec()
      if (isDue) await trim(client, most)
    },
    async lift(id) {
      const client = connection.client()
      const [text, earlier] = await client.mGet([PREFIX + id, LIFT + id])
      const here = known.list().find((one) => one.id === id)
      const ban = typeof text === 'string' ? (JSON.parse(text) as Ban) : here
      if (ban === undefined) return false
      const lift = makeLift(ban, earlier ? (JSON.parse(earlier) as Lift) : undefined, now())
      await client
        .multi()
        .del(PREFIX + id)
        .zRem(IDS, id)
        .set(LIFT + id, JSON.stringify(lift), expireAfter(lift.until - now()))
        .zAdd(LIFTS, { score: lift.until, value: id })
        .incr(VERSION)
        .exec()
      known.forget(ban, lift)
      return true
    },
    // The server ends lifts by its own clock; the clock of this node may be wrong.
    liftedAt: (id) => known.lift(id)?.at,
    async list() {
      await look()
      return known.list()
    },
    close() {
      clearInterval(timer)
      connection.close()
    },
  }
}

/** Reads the values of some ids, and forgets the ids of those that have ended. */
async function readAll<Value>(client: RedisClientType, ids: string, prefix: string): Promise<readonly Value[]> {
  const all = await client.zRange(ids, 0, -1)
  const texts = all.length === 0 ? [] : await client.mGet(all.map((id) => prefix + id))
  const ended = all.filter((_, at) => texts[at] === null)
  if (ended.length > 0) await client.zRem(ids, ended)
  return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as Value]))
}

/** Ends a key after so many milliseconds by the clock of the server, whatever the clock here says. */
function expireAfter(milliseconds: number) {
  return { expiration: { type: 'PX', value: Math.max(1, milliseconds) } } as const
}

/** Removes bans beyond `most`, the soonest to end first. */
async function trim(client: RedisClientType, most: number): Promise<void> {
  const ids = await client.zRange(IDS, 0, -1 - most)
  if (ids.length === 0) return
  await client
    .multi()
    .del(ids.map((id) => PREFIX + id))
    .zRem(IDS, ids)
    .incr(VERSION)
    .exec()
}
