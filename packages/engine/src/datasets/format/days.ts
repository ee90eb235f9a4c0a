const MS_PER_DAY = 86_400_000

/** Returns the UTC day of a time in milliseconds since the epoch, in days since the epoch. */
export function dayNumber(milliseconds: number): number {
  return Math.floor(milliseconds / MS_PER_DAY)
}

/** Returns the UTC day of a time in milliseconds since the epoch, as `YYYY-MM-DD`. */
export function formatDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}
