const MS_PER_DAY = 86_400_000

/** The UTC day of a time in milliseconds since the epoch, in days since it. */
export function dayNumber(milliseconds: number): number {
  return Math.floor(milliseconds / MS_PER_DAY)
}

/** A time in milliseconds since the epoch as its UTC day, `YYYY-MM-DD`. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}
