import { createHash, randomBytes } from 'node:crypto'
import type { RedisClientType } from '@redis/client'
import type { Counts, CountTask, Taken } from '@sallyport/core'
import type { Closable } from '../closable.ts'
import { openRedis } from '../redis-connection.ts'
import { hashKey } from './key-hash.ts'
import { GIVE_BACK, TAKE } from './redis-script.ts'
import { FLIGHT_LEASE_MS, FLIGHT_RENEW_MS } from './sqlite-counts.ts'

export interface RedisCountsOptions {
  /** How often a ping checks the server, in milliseconds. */
  readonly pingMs?: number | undefined
  /** Returns milliseconds since the epoch; when absent, the server's clock counts, which all nodes share. */
  readonly now?: (() => number) | undefined
}

/** One slot of a cluster has all keys, because one script takes those of a request. */
const PREFIX = 'sallyport:{counts}:'
const SECRET = `${PREFIX}secret`

const [TAKING, GIVING] = [createScript(TAKE), createScript(GIVE_BACK)]

/**
 * Opens counts in the Redis at `url`, shared by any number of nodes: one round trip for all that a request is counted by. Keys are kept as
 * keyed hashes, and each ends with its window. A request rejects at once when there is no connection; when the server is silent it stays
 * pending, and `createSharedCounts` gives it up.
 */
export async function openRedisCounts(url: string, options: RedisCountsOptions = {}): Promise<Counts & Closable> {
  const connection = await openRedis(url, options.pingMs)
  const flying = new Map<string, readonly string[]>()
  let secret: ReturnType<typeof readSecret> | undefined

  /** The key of the hashes is made by the first node, and read again where a server has lost it. */
  function loadSecret(): ReturnType<typeof readSecret> {
    secret ??= readSecret(connection.client).catch((error: unknown) => {
      secret = undefined
      throw error
    })
    return secret
  }

  async function take(tasks: readonly CountTask[], flight: string, retry = true): Promise<Taken> {
    const { value, mark } = await loadSecret()
    const ids = tasks.map(({ key }) => maskKey(value, key))
    const clock = options.now === undefined ? '' : String(options.now())
    const args = [mark, clock, flight, String(FLIGHT_LEASE_MS), ...tasks.flatMap(listArguments)]
    try {
      const given = { keys: [SECRET, ...ids], arguments: args }
      const numbers = (await evaluate(connection.client(), TAKING, given)) as readonly number[]
      const states = readStates(numbers)
      const entered = ids.filter((_, at) => tasks[at]?.limit === undefined && states[at]?.allowed)
      if (entered.length > 0) flying.set(flight, entered)
      return { states }
    } catch (error) {
      if (!retry || !(error instanceof Error) || !error.message.includes('SECRET')) throw error
      secret = undefined
      return take(tasks, flight, false)
    }
  }

  /** Renews by the clock of the server, as leases begin by it: the clock of this process may be wrong. */
  async function renew(): Promise<void> {
    if (flying.size === 0) return
    const client = connection.client()
    const until = (options.now?.() ?? Number((await client.time())[0]) * 1000) + FLIGHT_LEASE_MS
    const renewed = [...flying].flatMap(([value, ids]) =>
      [...ids].flatMap((id): Promise<unknown>[] => [
        client.zAdd(id, { score: until, value }, { condition: 'XX' }),
        client.pExpire(id, FLIGHT_LEASE_MS),
      ]),
    )
    await Promise.all(renewed)
  }

  async function forget(ids: readonly string[], flight: string): Promise<void> {
    const client = connection.client()
    await Promise.all(ids.map((id) => client.zRem(id, flight)))
  }

  async function giveBack(unused: readonly CountTask[]): Promise<void> {
    if (unused.length === 0) return
    const { value } = await loadSecret()
    const keys = unused.map(({ key }) => maskKey(value, key))
    await evaluate(connection.client(), GIVING, { keys, arguments: unused.map(({ cost }) => String(cost)) })
  }

  // The first burst would wait for three answers in turn.
  loadSecret().catch(() => {})
  // A flight that cannot be renewed now is renewed the next time, within its lease.
  const renewing = setInterval(() => void renew().catch(() => {}), FLIGHT_RENEW_MS).unref()

  return {
    take: (tasks, flight) => take(tasks, flight),
    leave(_, flight, unused = []) {
      const ids = flying.get(flight) ?? []
      flying.delete(flight)
      // A count that cannot be removed now ends with its lease.
      void forget(ids, flight).catch(() => {})
      void giveBack(unused).catch(() => {})
    },
    close() {
      clearInterval(renewing)
      connection.close()
    },
  }
}

/** Reads the secret, with the mark that names it to the script. */
async function readSecret(connected: () => RedisClientType) {
  const client = connected()
  // An account may be denied `SCRIPT LOAD`; `evaluate` sends the script then.
  client.scriptLoad(TAKING.text).catch(() => {})
  await client.set(SECRET, randomBytes(32).toString('base64url'), { condition: 'NX' })
  const value = (await client.get(SECRET)) ?? ''
  return { value, mark: createHash('sha1').update(value).digest('hex') }
}

/** Returns a script with the digest by which the server holds it. */
function createScript(text: string) {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** Runs a script by its digest; a server that does not have the script receives it. */
async function evaluate(
  client: RedisClientType,
  { text, sha }: ReturnType<typeof createScript>,
  given: { readonly keys: string[]; readonly arguments: string[] },
): Promise<unknown> {
  try {
    return await client.evalSha(sha, given)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return client.eval(text, given)
  }
}

function maskKey(secret: string, key: string): string {
  return PREFIX + hashKey(secret, key)
}

function listArguments({ cost, limit, max, binding }: CountTask): readonly string[] {
  const { kind, windowMs, refill } = limit ?? { kind: 'flights', windowMs: 0, refill: 0 }
  return [kind, String(cost), String(max), String(windowMs), String(refill), binding ? '1' : '0']
}

function readStates(numbers: readonly number[]): Taken['states'] {
  return Array.from({ length: numbers.length / 3 }, (_, at) => {
    const [allowed, used = 0, resetMs = 0] = numbers.slice(3 * at, 3 * at + 3)
    return { allowed: allowed === 1, used, resetMs }
  })
}
