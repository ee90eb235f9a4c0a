import { hasRoom, LEVEL_COUNT, levelOf } from './fair-share.ts'

/** How many may have a slot, and how many may wait for one. */
export interface SlotLimits {
  readonly total: number
  /** Slots of one client; absent: as many as its level has. */
  readonly perClient?: number | undefined
  /** Beyond it nobody waits; absent: everybody may. */
  readonly waiting?: number | undefined
  /** Milliseconds. */
  readonly waitMs: number
}

/** A request for a slot. */
export interface Taker {
  /** Key that it is counted under. */
  readonly client: string
  /** Kept by the slots: that it has one, or the clock of its waiting; absent: neither. */
  slot: 'held' | NodeJS.Timeout | undefined
  /** The slot is there: at once, or later. */
  granted(): void
  /** None came in time, or too many wait. */
  refused(): void
}

/**
 * A bound on what goes on at one time, of all clients and of each. A client that holds much leaves room for those that hold little,
 * which come first when a slot becomes free; clients of one level take turns, so that the queue of one does not stand before
 * another's request.
 */
export class Slots {
  readonly #limits: SlotLimits
  /** The queue of each client that waits, by the level of what it holds. */
  readonly #queues: readonly Map<string, Set<Taker>>[] = Array.from({ length: LEVEL_COUNT }, () => new Map())
  readonly #held = new Map<string, number>()
  #waiting = 0
  #used = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Slots in use, and takers that wait for one. */
  get load(): { readonly used: number; readonly waiting: number } {
    return { used: this.#used, waiting: this.#waiting }
  }

  /** Calls `granted` or `refused`, once. */
  take(taker: Taker): void {
    const { client } = taker
    const level = levelOf(this.#heldBy(client))
    if (this.#isFree(client, level)) {
      this.#grant(taker)
      return
    }
    const { waiting, waitMs } = this.#limits
    const queues = this.#queuesOf(level)
    const queue = queues.get(client)
    const mayWait = waiting === undefined || hasRoom(levelOf(queue?.size ?? 0), this.#waiting, waiting)
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

  /** The work has ended, or nobody waits for it any more; a taker that has nothing gives nothing back. */
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

  #heldBy(client: string): number {
    return this.#held.get(client) ?? 0
  }

  #queuesOf(level: number): Map<string, Set<Taker>> {
    return this.#queues[level] as Map<string, Set<Taker>>
  }

  #isFree(client: string, level: number): boolean {
    const { total, perClient } = this.#limits
    return hasRoom(level, this.#used, total) && (perClient === undefined || this.#heldBy(client) < perClient)
  }

  #hold(client: string, change: 1 | -1): void {
    const before = this.#heldBy(client)
    const held = before + change
    if (held === 0) this.#held.delete(client)
    else this.#held.set(client, held)
    const [from, to] = [levelOf(before), levelOf(held)]
    const queue = from === to ? undefined : this.#queuesOf(from).get(client)
    if (queue === undefined) return
    this.#queuesOf(from).delete(client)
    this.#queuesOf(to).set(client, queue)
  }

  #grant(taker: Taker): void {
    taker.slot = 'held'
    this.#hold(taker.client, 1)
    this.#used++
    taker.granted()
  }

  #next(): void {
    for (const [level, queues] of this.#queues.entries()) {
      // A level above has no more room.
      if (!hasRoom(level, this.#used, this.#limits.total)) return
      for (const [client, queue] of queues) {
        const [taker] = queue
        if (taker === undefined || !this.#isFree(client, level)) continue
        this.#unqueue(client, taker, taker.slot as NodeJS.Timeout)
        // To the end, so that the next slot is another client's.
        if (queues.delete(client)) queues.set(client, queue)
        this.#grant(taker)
        return
      }
    }
  }

  #unqueue(client: string, taker: Taker, clock: NodeJS.Timeout): void {
    clearTimeout(clock)
    this.#waiting--
    const queues = this.#queuesOf(levelOf(this.#heldBy(client)))
    const queue = queues.get(client)
    queue?.delete(taker)
    if (queue?.size === 0) queues.delete(client)
  }
}
