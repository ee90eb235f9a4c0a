/** How many may have a slot, and how many may wait for one. */
export interface SlotLimits {
  readonly total: number
  /** Slots of one client; absent: as many as there are. */
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
 * A bound on what goes on at one time, of all clients and of each. Clients take turns when a slot becomes free, so that
 * the queue of one does not stand before another's request (D95).
 */
export class Slots {
  readonly #limits: SlotLimits
  readonly #queues = new Map<string, Set<Taker>>()
  /** Slots of each client, where it has a share of its own. */
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
    if (this.#isFree(taker.client)) {
      this.#grant(taker)
      return
    }
    const { waiting = Number.POSITIVE_INFINITY, waitMs } = this.#limits
    if (this.#waiting >= waiting || waitMs === 0) {
      taker.refused()
      return
    }
    const queue = this.#queues.get(taker.client)
    if (queue) queue.add(taker)
    else this.#queues.set(taker.client, new Set([taker]))
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

  #isFree(client: string): boolean {
    const { total, perClient } = this.#limits
    return this.#used < total && (perClient === undefined || (this.#held.get(client) ?? 0) < perClient)
  }

  #hold(client: string, change: 1 | -1): void {
    if (this.#limits.perClient === undefined) return
    const held = (this.#held.get(client) ?? 0) + change
    if (held === 0) this.#held.delete(client)
    else this.#held.set(client, held)
  }

  #grant(taker: Taker): void {
    taker.slot = 'held'
    this.#hold(taker.client, 1)
    this.#used++
    taker.granted()
  }

  #next(): void {
    for (const [client, queue] of this.#queues) {
      if (!this.#isFree(client)) continue
      const [taker] = queue
      if (taker === undefined) continue
      this.#unqueue(client, taker, taker.slot as NodeJS.Timeout)
      // To the end, so that the next slot is another client's.
      if (queue.size > 0) {
        this.#queues.delete(client)
        this.#queues.set(client, queue)
      }
      this.#grant(taker)
      return
    }
  }

  #unqueue(client: string, taker: Taker, clock: NodeJS.Timeout): void {
    clearTimeout(clock)
    this.#waiting--
    const queue = this.#queues.get(client)
    queue?.delete(taker)
    if (queue?.size === 0) this.#queues.delete(client)
  }
}
