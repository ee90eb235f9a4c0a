/** A member of a roster knows its place there. */
export interface Placed {
  place: number
}

/**
 * Things that come and go thousands of times a second, in no order. A list and no set: as a set changes, V8 leaves old
 * tables of it behind, which keep what was in them until a full collection.
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

  /** All of them at this moment. */
  all(): readonly T[] {
    return [...this.#all]
  }
}
