/** This many keys at zero are forgotten together. */
const MAX_ZEROS = 8_192

/** Counts by key. Keys at zero stay for a while: V8 rebuilds a long-lived map that changes at each request in the old generation. */
export class Counts {
  #counts = new Map<string, number>()
  #zeros = 0

  get(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  /** Returns the new count. */
  add(key: string, change: number): number {
    const before = this.#counts.get(key)
    const count = (before ?? 0) + change
    this.#counts.set(key, count)
    if (before === 0) this.#zeros--
    if (count === 0 && ++this.#zeros > MAX_ZEROS) {
      this.#counts = new Map([...this.#counts].filter(([, kept]) => kept !== 0))
      this.#zeros = 0
    }
    return count
  }
}

/**
 * Levels of clients by what each holds of a shared resource, and the part that is kept free from a level: a client with eight may use the
 * first half, a client with one the first three quarters. Each place of the last quarter needs a client of its own. Many people may share
 * an address; they notice the levels only where half is in use.
 */
const LEVELS = [
  { holds: 0, kept: 0 },
  { holds: 1, kept: 1 / 4 },
  { holds: 8, kept: 1 / 2 },
] as const

/** Finds the level of a client by what it holds. */
export function findLevel(holds: number): number {
  return LEVELS.findLastIndex((level) => holds >= level.holds)
}

/** Reports whether a client of a level may have one more, where `used` of `total` are in use. */
export function hasRoom(level: number, used: number, total: number): boolean {
  return total - used > Math.floor(total * (LEVELS[level]?.kept ?? 0))
}

/** Limits how many may have a slot, and how many may wait for one. */
export interface SlotLimits {
  readonly total: number
  /** Slots of one client; absent: as many as its level permits. */
  readonly perClient?: number | undefined
  /** Limits how many may wait; absent: no limit. */
  readonly waiting?: number | undefined
  /** Limits the wait for a slot, in milliseconds. */
  readonly waitMs: number
}

/** A request that needs a slot. */
export interface Taker {
  /** The key that counts the client. */
  readonly client: string
  /** Written by the slots: `held`, or the timer of the wait; absent: neither. */
  slot: 'held' | NodeJS.Timeout | undefined
  /** Called when the taker has a slot, at once or later. */
  granted(): void
  /** Called when no slot came in time, or too many wait. */
  refused(): void
}

/**
 * Bounds what runs at one time, for all clients and for each. A client that holds much leaves room for clients that hold little, which come
 * first when a slot becomes free. Clients of one level take turns, so that the queue of one client does not delay another.
 */
export class Slots {
  readonly #limits: SlotLimits
  /** Holds the queue of each client that waits, by the level of what the client holds. */
  readonly #queues: readonly Map<string, Set<Taker>>[] = LEVELS.map(() => new Map())
  readonly #held = new Counts()
  #waiting = 0
  #used = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Counts slots in use, and takers that wait for a slot. */
  get load(): { readonly used: number; readonly waiting: number } {
    return { used: this.#used, waiting: this.#waiting }
  }

  /** Calls `granted` or `refused`, once. */
  take(taker: Taker): void {
    const { client } = taker
    const level = findLevel(this.#held.get(client))
    if (this.#isFree(client, level)) {
      this.#grant(taker)
      return
    }
    const { waiting, waitMs } = this.#limits
    const queues = this.#findQueues(level)
    const queue = queues.get(client)
    const mayWait = waiting === undefined || hasRoom(findLevel(queue?.size ?? 0), this.#waiting, waiting)
    if (!mayWait || waitMs === 0) {
      taker.refused()
      return
    }
    if (queue) queue.add(taker)
    else queues.set(client, new Set([taker]))
    this.#waiting++
    taker.slot = setTimeout(() => {
      this.leave(taker)
      taker.refused()
    }, waitMs)
  }

  /** Returns a slot when the work has ended or the client has left; a taker without a slot returns nothing. */
  leave(taker: Taker): void {
    const { client, slot } = taker
    if (slot === undefined) return
    taker.slot = undefined
    if (slot !== 'held') {
      this.#unqueue(client, taker, slot)
      return
    }
    this.#hold(client, -1)
    this.#used--
    if (this.#waiting > 0) this.#next()
  }

  #findQueues(level: number): Map<string, Set<Taker>> {
    return this.#queues[level] as Map<string, Set<Taker>>
  }

  #isFree(client: string, level: number): boolean {
    const { total, perClient } = this.#limits
    return hasRoom(level, this.#used, total) && (perClient === undefined || this.#held.get(client) < perClient)
  }

  #hold(client: string, change: 1 | -1): void {
    const after = this.#held.add(client, change)
    const [from, to] = [findLevel(after - change), findLevel(after)]
    const queue = from === to ? undefined : this.#findQueues(from).get(client)
    if (queue === undefined) return
    this.#findQueues(from).delete(client)
    this.#findQueues(to).set(client, queue)
  }

  #grant(taker: Taker): void {
    taker.slot = 'held'
    this.#hold(taker.client, 1)
    this.#used++
    taker.granted()
  }

  #next(): void {
    for (const [level, queues] of this.#queues.entries()) {
      // The next levels have no more room either.
      if (!hasRoom(level, this.#used, this.#limits.total)) return
      for (const [client, queue] of queues) {
        const [taker] = queue
        if (taker === undefined || !this.#isFree(client, level)) continue
        this.#unqueue(client, taker, taker.slot as NodeJS.Timeout)
        // The client moves to the end, so that another client gets the next slot.
        if (queues.delete(client)) queues.set(client, queue)
        this.#grant(taker)
        return
      }
    }
  }

  #unqueue(client: string, taker: Taker, clock: NodeJS.Timeout): void {
    clearTimeout(clock)
    this.#waiting--
    const queues = this.#findQueues(findLevel(this.#held.get(client)))
    const queue = queues.get(client)
    queue?.delete(taker)
    if (queue?.size === 0) queues.delete(client)
  }
}
