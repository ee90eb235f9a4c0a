const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** 1973 and 2100, in seconds: a smaller number is a duration, a larger number has another unit. */
const EARLIEST_S = 1e8
const LATEST_S = 4.2e9

/** Lists seconds, milliseconds, microseconds and nanoseconds, by how many make a second. */
const PER_SECOND = [1, 1e3, 1e6, 1e9]

/**
 * Parses a time as logs write it, to milliseconds since the epoch: a number in any unit, ISO 8601, or `21/Nov/2026:10:00:00 +0100`. A time
 * without a zone is UTC; `undefined` for any other text.
 */
export function parseMoment(given: unknown): number | undefined {
  if (typeof given === 'number') return parseNumber(given)
  if (typeof given !== 'string') return undefined
  const text = given.replace(/^\[|\]$/g, '').trim()
  if (/^\d{9,19}(?:\.\d+)?$/.test(text)) return parseNumber(Number(text))
  const [, date, clock = '', zone = 'Z'] =
    /^(\d{4}[-/]\d\d[-/]\d\d|\d\d\/[A-Z][a-z]{2}\/\d{4})[T :](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?) ?(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(
      text,
    ) ?? []
  if (date === undefined) return undefined
  const offset = /^[+-]/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(-2)}` : 'Z'
  const moment = Date.parse(`${formatDay(date)}T${clock.replace(',', '.')}${offset}`)
  return Number.isNaN(moment) ? undefined : moment
}

function parseNumber(number: number): number | undefined {
  const unit = PER_SECOND.find((unit) => number >= EARLIEST_S * unit && number < LATEST_S * unit)
  return unit === undefined ? undefined : Math.round((number / unit) * 1e3)
}

/** Writes `2026-11-21`, from `2026/11/21` or `21/Nov/2026`. */
function formatDay(date: string): string {
  const [one = '', month = '', other = ''] = date.split(/[-/]/)
  if (one.length === 4) return `${one}-${month}-${other}`
  return `${other}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${one}`
}
