import { DAY_MS } from '@sallyport/core'

/** Returns the UTC day of a time in milliseconds since the epoch, in days since the epoch. */
export function dayNumber(milliseconds: number): number {
  return Math.floor(milliseconds / DAY_MS)
}

/** Finds the newest date of rows, `YYYY-MM-DD` or `YYYY-MM`. */
export function findNewest(rows: readonly { readonly date: string }[]): string {
  return rows.map(({ date }) => date).reduce((newest, date) => (date > newest ? date : newest))
}

/** Returns the UTC day of a time in milliseconds since the epoch, as `YYYY-MM-DD`. */
export function formatDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}
