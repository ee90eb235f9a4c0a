export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** Matches `500ms`, `10s`, `5m`, `1h` or `1d`. */
export const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: HOUR_MS, d: DAY_MS }

/** Returns the milliseconds of a duration; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = ''] = DURATION.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit] as number)
}

/** Returns the milliseconds of a duration, or NaN for any other text. */
export function toMilliseconds(given: string | number): number {
  return typeof given === 'number' ? given : (parseDuration(given) ?? Number.NaN)
}

/** Writes a duration in the largest unit that it is a whole number of. */
export function formatDuration(milliseconds: number): string {
  const [unit, size] = Object.entries(UNITS)
    .reverse()
    .find(([, size]) => milliseconds >= size && milliseconds % size === 0) ?? ['ms', 1]
  return `${milliseconds / size}${unit}`
}
