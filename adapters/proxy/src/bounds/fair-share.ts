/**
 * Levels of clients by what each holds of a resource that all share, and the part of the resource that is kept from a level: a client
 * with eight has the first half, a client with one the first three quarters. Each place of the last quarter takes a client of its
 * own to fill. A client is an address, behind which many people may be: they notice the levels only where half is in use.
 */
const LEVELS = [
  { holds: 0, kept: 0 },
  { holds: 1, kept: 1 / 4 },
  { holds: 8, kept: 1 / 2 },
] as const

export const LEVEL_COUNT = LEVELS.length

/** Finds the level of a client that holds so much. */
export function levelOf(holds: number): number {
  return LEVELS.findLastIndex((level) => holds >= level.holds)
}

/** Whether a client of a level may have one more, where `used` of `total` are in use. */
export function hasRoom(level: number, used: number, total: number): boolean {
  return total - used > Math.floor(total * (LEVELS[level]?.kept ?? 0))
}
