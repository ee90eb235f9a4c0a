/** The positions of rules in the order in which they are asked, ascending, some of which come up while others are asked. */
export class Turns {
  readonly #found: readonly number[] | undefined
  /** Descending: the next one is the last. */
  #reached: number[] = []
  #at = 0

  /** Absent: all positions, without an end. */
  constructor(found: readonly number[] | undefined) {
    this.#found = found
  }

  /** The next position; an endless number after the last. */
  next(): number {
    const found = this.#found === undefined ? this.#at : (this.#found[this.#at] ?? Number.POSITIVE_INFINITY)
    const reached = this.#reached.at(-1)
    if (reached !== undefined && reached < found) return this.#reached.pop() as number
    this.#at++
    return found
  }

  /** Takes positions in that are after the last one and not among the others. */
  add(reached: readonly number[]): void {
    if (reached.length > 0) this.#reached = [...this.#reached, ...reached].sort((one, other) => other - one)
  }
}
