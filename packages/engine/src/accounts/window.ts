/** A billing window of an account begins at `startsAt` and ends before `endsAt`, in milliseconds since the epoch. */
export interface BillingWindow {
  /** Windows that begin later sort after this one: the first day, `YYYY-MM-DD`. */
  readonly id: string
  readonly startsAt: number
  readonly endsAt: number
  /** The next window begins on this day, `YYYY-MM-DD`. */
  readonly resetDate: string
}

/**
 * Returns the window that `now` (milliseconds since the epoch) falls into for an account that signed up on `signupDate` (`YYYY-MM-DD`).
 * Windows begin at 00:00 UTC on the signup day of every month; a month without that day begins its window on its last day, and the next
 * month returns to the signup day. Throws RangeError for what is not a date.
 */
export function billingWindow(signupDate: string, now: number): BillingWindow {
  const day = signupDay(signupDate)
  const date = new Date(now)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth()
  const first = findStart(year, month, day) <= now ? month : month - 1
  const startsAt = findStart(year, first, day)
  const endsAt = findStart(year, first + 1, day)
  return { id: dateText(startsAt), startsAt, endsAt, resetDate: dateText(endsAt) }
}

/** Creates a `billingWindow` that remembers the window of each day of the month for as long as `now` falls into it. */
export function createBillingWindows(): typeof billingWindow {
  const windows = new Map<string, BillingWindow>()
  return (signupDate, now) => {
    const day = signupDate.slice(8)
    const known = windows.get(day)
    if (known !== undefined && known.startsAt <= now && now < known.endsAt) return known
    const window = billingWindow(signupDate, now)
    windows.set(day, window)
    return window
  }
}

/** Reports whether a text is a day that exists, written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = Date.parse(text)
  return !Number.isNaN(time) && dateText(time) === text
}

/** Writes the UTC day of a moment as `YYYY-MM-DD`. */
export function dateText(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function signupDay(signupDate: string): number {
  if (!isDate(signupDate)) throw new RangeError(`Not a date (YYYY-MM-DD): ${signupDate}`)
  return Number(signupDate.slice(8))
}

/** Returns the start of the window of a month; `month` may lie outside 0 to 11 and then counts into the years beside it. */
function findStart(year: number, month: number, day: number): number {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(day, lastDay))
}
