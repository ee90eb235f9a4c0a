import { clientKey, WIDE_FACTOR } from '../counting/keys.ts'
import type { Counts, CountTask } from '../counting/ports.ts'

/** Answers of a client that are looked at in a minute: solutions, and questions that it waited for. */
const TRIES = { kind: 'sliding', max: 30, windowMs: 60_000, refill: 30 } as const
const WIDE_TRIES = { ...TRIES, max: 30 * WIDE_FACTOR, refill: 30 * WIDE_FACTOR }

/** Counts a try of an address, and says whether it is looked at: one that waits for a thousand questions at a time would have a thousand passes. */
export type MayTry = (address: string) => Promise<boolean>

export function createTries(counts: Counts, ipv6Prefix: number): MayTry {
  return async (address) => {
    const { narrow, wide } = clientKey(address, ipv6Prefix)
    const tasks = [taskOf(narrow, TRIES)]
    if (wide !== undefined) tasks.push(taskOf(wide, WIDE_TRIES))
    const { states } = await counts.take(tasks, '')
    return states.every(({ allowed }) => allowed)
  }
}

function taskOf(key: string, limit: typeof TRIES | typeof WIDE_TRIES): CountTask {
  return { key: `challenge client ${key}`, cost: 1, limit, max: limit.max, binding: true }
}
