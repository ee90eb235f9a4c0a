import type { Exchange, Holder } from './exchange.ts'

/** A member of a roster knows its place there. */
export interface Placed {
  place: number
}

/**
 * Holds members that come and go thousands of times a second, in no order. It is a list and no set: as a set changes, V8 leaves old tables
 * behind, which keep their members until a full collection.
 */
export class Roster<T extends Placed> {
  readonly #all: T[] = []

  get size(): number {
    return this.#all.length
  }

  add(one: T): void {
    one.place = this.#all.push(one) - 1
  }

  remove(one: T): void {
    if (this.#all[one.place] !== one) return
    const last = this.#all.pop() as T
    if (last === one) return
    last.place = one.place
    this.#all[last.place] = last
  }

  /** Lists the current members. */
  all(): readonly T[] {
    return [...this.#all]
  }
}

/** Counts exchanges from begin to end: an exchange may wait for a count or for its turn long before it is forwarded. */
export function createInFlight() {
  let count = 0
  let onNone = (): void => {}
  const service: Holder = {
    left() {
      count--
      if (count === 0) onNone()
    },
  }
  return {
    add(exchange: Exchange): Exchange {
      if (exchange.ended) return exchange
      count++
      exchange.service = service
      return exchange
    },
    /** Calls `end` once, when no exchange is left; no new exchange comes then. */
    onceNone(end: () => void): void {
      if (count === 0) end()
      else onNone = end
    },
  }
}
