/** Counts by key; a key with a count of zero takes no memory. */
export class Counts {
  readonly #counts = new Map<string, number>()

  get(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  add(key: string, change: number): void {
    const count = this.get(key) + change
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
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

export const LEVEL_COUNT = LEVELS.length

/** Finds the level of a client by what it holds. */
export function findLevel(holds: number): number {
  return LEVELS.findLastIndex((level) => holds >= level.holds)
}

/** Reports whether a client of a level may have one more, where `used` of `total` are in use. */
export function hasRoom(level: number, used: number, total: number): boolean {
  return total - used > Math.floor(total * (LEVELS[level]?.kept ?? 0))
}
