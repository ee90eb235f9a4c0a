import { LRUCache } from 'lru-cache'
import type { Address } from '../address/address.ts'
import { formatPrefix, makePrefix } from '../address/prefix.ts'
import { WIDE_PREFIX } from '../counting/keys.ts'
import { type Counts, type CountTask, makeFixedTask, type Taken } from '../counting/ports.ts'
import { HOUR_MS } from '../duration.ts'

/** A pass ends once more networks than these use it within an hour. */
const MAX_NETWORKS = 4
/** A process relies on its own knowledge of a pass for this time, and then reads the shared counts. */
const LOOK_MS = 60_000

const MAX_KEPT = 16_384

interface Seen {
  /** The address that brought the pass last: the next one is mostly the same value. */
  last: Address
  readonly networks: Map<string, number>
  lookedAt: number
  lostUntil: number
}

export type PassNetworks = ReturnType<typeof createPassNetworks>

/**
 * Counts the networks that passes come from, the /24 of IPv4 and the /48 of IPv6. The process that first sees a pass and a network together
 * counts them, once. A lost pass is lost on all machines that share counts.
 */
export function createPassNetworks(counts: Counts, onFault?: (error: unknown) => void) {
  const kept = new LRUCache<string, Seen>({ max: MAX_KEPT })

  function ask(pass: string, seen: Seen, tasks: readonly CountTask[], now: number): void {
    seen.lookedAt = now
    const heard = ({ states }: Taken): void => {
      // The second of two did not fit: another process saw them together, and the first one is the count.
      const state = states.length === 2 ? states[0] : states.at(-1)
      if (state !== undefined && state.used > MAX_NETWORKS) seen.lostUntil = now + state.resetMs
    }
    try {
      const taken = counts.take(tasks, '')
      if (taken instanceof Promise) taken.then(heard).catch((error: unknown) => onFault?.(error))
      else heard(taken)
    } catch (error) {
      onFault?.(error)
    }
    kept.set(pass, seen)
  }

  return {
    /** Reports whether a pass still holds. A count that does not answer at once applies from the next request. */
    holds(pass: string, from: Address, now: number): boolean {
      const seen = kept.get(pass) ?? {
        last: from,
        networks: new Map(),
        lookedAt: Number.NEGATIVE_INFINITY,
        lostUntil: 0,
      }
      const isFresh = now - seen.lookedAt < LOOK_MS
      if (isFresh && seen.last === from) return seen.lostUntil <= now
      const network = formatPrefix(makePrefix(from, from.family === 4 ? 24 : WIDE_PREFIX))
      const since = seen.networks.get(network)
      seen.last = from
      if (since === undefined || now - since >= HOUR_MS) {
        // One network more than fits is enough to know that the pass is lost.
        if (seen.networks.size <= MAX_NETWORKS) seen.networks.set(network, now)
        const together = makeFixedTask(`challenge network ${pass} ${network}`, 1, HOUR_MS)
        ask(pass, seen, [makeTask(pass, 0), together, makeTask(pass, 1)], now)
      } else if (!isFresh) ask(pass, seen, [makeTask(pass, 0)], now)
      return seen.lostUntil <= now
    },
  }
}

/** Makes the task that counts a network of a pass; `cost` 0 only looks. */
function makeTask(pass: string, cost: 0 | 1): CountTask {
  return { ...makeFixedTask(`challenge networks ${pass}`, MAX_NETWORKS + 1, HOUR_MS), cost, binding: cost === 1 }
}
