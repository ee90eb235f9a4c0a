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
  /** The slot is there: at once, or later. */
  granted(): void
  /** None came in time, or too many wait. `leave` is still called. */
  refused(): void
}

/**
 * A bound on what goes on at one time, of all clients and of each. Clients take turns when a slot becomes free, so that
 * the queue of one does not stand before another's request (D95).
 */
export class Slots {
  readonly #limits: SlotLimits
  readonly #queues = new Map<string, Set<Taker>>()
  readonly #clocks = new Map<Taker, NodeJS.Timeout>()
  readonly #held = new Map<string, number>()
  /** Takers that have a slot are not kept: these are the others, until they leave. */
  readonly #refused = new WeakSet<Taker>()
  #used = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Slots in use, and takers that wait for one. */
  get load(): { readonly used: number; readonly waiting: number } {
    return { used: this.#used, waiting: this.#clocks.size }
  }

  /** Calls `granted` or `refused`, once. Each taker leaves once, whatever became of it. */
  take(taker: Taker): void {
    if (this.#isFree(taker.client)) {
      this.#grant(taker)
      return
    }
    const { waiting = Number.POSITIVE_INFINITY, waitMs } = this.#limits
    if (this.#clocks.size >= waiting || waitMs === 0) {
      this.#refuse(taker)
      return
    }
    const queue = this.#queues.get(taker.client)
    if (queue) queue.add(taker)
    else this.#queues.set(taker.client, new Set([taker]))
    this.#clocks.set(
      taker,
      setTimeout(() => {
        this.#unqueue(taker)
        this.#refuse(taker)
      }, waitMs),
    )
  }

  /** The work has ended, or nobody waits for it any more. */
  leave(taker: Taker): void {
    if (this.#clocks.has(taker)) {
      this.#unqueue(taker)
      return
    }
    if (this.#refused.has(taker)) return
    const left = (this.#held.get(taker.client) ?? 1) - 1
    if (left === 0) this.#held.delete(taker.client)
    else this.#held.set(taker.client, left)
    this.#used--
    if (this.#clocks.size > 0) this.#next()
  }

  #isFree(client: string): boolean {
    const { total, perClient = total } = this.#limits
    return this.#used < total && (this.#held.get(client) ?? 0) < perClient
  }

  #grant(taker: Taker): void {
    this.#held.set(taker.client, (this.#held.get(taker.client) ?? 0) + 1)
    this.#used++
    taker.granted()
  }

  #refuse(taker: Taker): void {
    this.#refused.add(taker)
    taker.refused()
  }

  #next(): void {
    for (const [client, queue] of this.#queues) {
      if (!this.#isFree(client)) continue
      const [taker] = queue
      if (taker === undefined) continue
      this.#unqueue(taker)
      // To the end, so that the next slot is another client's.
      if (queue.size > 0) {
        this.#queues.delete(client)
        this.#queues.set(client, queue)
      }
      this.#grant(taker)
      return
    }
  }

  #unqueue(taker: Taker): void {
    clearTimeout(this.#clocks.get(taker))
    this.#clocks.delete(taker)
    const queue = this.#queues.get(taker.client)
    queue?.delete(taker)
    if (queue?.size === 0) this.#queues.delete(taker.client)
  }
}
