const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** 1973 and 2100 in seconds: a smaller number is a length of time, a larger one has another unit. */
const EARLIEST_S = 1e8
const LATEST_S = 4.2e9

/** Seconds, and the units that loggers count in beside them, each by how many of it are a second. */
const PER_SECOND = [1, 1e3, 1e6, 1e9]

/**
 * Milliseconds since the epoch of a time as logs write it: a number in any unit, ISO 8601, `21/Nov/2026:10:00:00 +0100`,
 * or a date of HTTP. One without a zone is taken as UTC; `undefined` for what is none.
 */
export function momentOf(given: unknown): number | undefined {
  if (typeof given === 'number') return ofNumber(given)
  if (typeof given !== 'string') return undefined
  const text = given.replace(/^\[|\]$/g, '').trim()
  if (/^\d{9,19}(?:\.\d+)?$/.test(text)) return ofNumber(Number(text))
  return ofParts(isoParts(text) ?? clfParts(text) ?? httpParts(text))
}

/** A collector may read a log weeks later; lengths of time that look like a moment are years away. */
const FAR_MS = 30 * 86_400_000

/** The moment of the first of several members that is one; a date goes before a number that is far from it, which is a length of time. */
export function momentAmong(given: readonly unknown[]): number | undefined {
  const moments = (some: readonly unknown[]) => some.map(momentOf).find((moment) => moment !== undefined)
  const first = moments(given)
  if (given.length === 1) return first
  const dated = moments(given.filter((one) => typeof one === 'string' && Number.isNaN(Number(one))))
  return first !== undefined && dated !== undefined && Math.abs(first - dated) > FAR_MS ? dated : first
}

function ofNumber(number: number): number | undefined {
  const unit = PER_SECOND.find((unit) => number >= EARLIEST_S * unit && number < LATEST_S * unit)
  return unit === undefined ? undefined : Math.round((number / unit) * 1e3)
}

/** Year, month, day, clock and zone, as ISO 8601 writes them. */
type Parts = readonly [year: string, month: string, day: string, clock: string, zone: string]

/** `2026-11-21T10:00:00.123+01:00`, `2026/11/21 10:00:00`. */
function isoParts(text: string): Parts | undefined {
  const [, year = '', month = '', day = '', clock, zone = ''] =
    /^(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?) ?(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(text) ?? []
  return clock === undefined ? undefined : [year, month, day, clock, zone]
}

/** `21/Nov/2026:10:00:00 +0100` */
function clfParts(text: string): Parts | undefined {
  const [, day = '', month = '', year = '', clock, zone = ''] =
    /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?: ([+-]\d{4}))?$/.exec(text) ?? []
  return clock === undefined ? undefined : [year, monthOf(month), day, clock, zone]
}

/** `Sat, 21 Nov 2026 10:00:00 GMT` */
function httpParts(text: string): Parts | undefined {
  const [, day = '', month = '', year = '', clock] =
    /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) GMT$/.exec(text) ?? []
  return clock === undefined ? undefined : [year, monthOf(month), day, clock, 'Z']
}

function monthOf(name: string): string {
  return String(MONTHS.indexOf(name) + 1).padStart(2, '0')
}

function ofParts(parts: Parts | undefined): number | undefined {
  if (parts === undefined) return undefined
  const [year, month, day, clock, zone] = parts
  const offset = /^[+-]/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(-2)}` : 'Z'
  const wall = `${year}-${month}-${day}T${clock.replace(',', '.')}`
  const moment = Date.parse(wall + offset)
  // `Date` takes 30 February and 24:00:00 for the day after.
  const isWritten = !clock.startsWith('24') && (Number(day) <= SHORTEST_MONTH || isDayOf(wall, day))
  return Number.isNaN(moment) || !isWritten ? undefined : moment
}

/** In days. */
const SHORTEST_MONTH = 28

function isDayOf(wall: string, day: string): boolean {
  return new Date(`${wall}Z`).getUTCDate() === Number(day)
}
