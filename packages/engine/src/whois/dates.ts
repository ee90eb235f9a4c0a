import type { DateOrder } from './date-order.ts'

/** Beginnings of month names, in English and where they differ in German, Romance languages and Dutch. */
const MONTHS =
  'jan ene gen|feb fev féb fév|mar mär mrt maa|apr abr avr|may mai mag mei|jun juin giu|jul juil lug|aug ago aou aoû|sep set|oct okt out ott|nov|dec dez déc déz dic diz'
    .split('|')
    .map((starts) => starts.split(' '))

const NAME = '(?<name>[a-zà-ÿ]{3,10})'

/** Only this many characters are read; a date with time and zone has about 40. */
const MAX_LENGTH = 80

/** Matches a time of day and its zone: `T13:38:02.0Z`, ` 16:37:02 (JST)`, ` 00:00:00+02:00`, ` 10:22:50 (UTC+8)`. */
const TIME = String.raw`(?:(?:T| {1,4})(?<hour>\d{1,2}):(?<minute>\d\d)(?::\d\d)?(?:\.\d{1,9})?(?: ?(?<zone>[A-Z()+:\d-]{1,10}))?)?`

/** Lists all forms, the most exact first. A year of two digits is 1970 to 2069. */
const FORMS: readonly RegExp[] = [
  new RegExp(
    String.raw`(?<!\d)(?<year>(?:19|2\d)\d\d)[-./年년] ?(?<month>\d{1,2})[-./月월] ?(?<day>\d{1,2})(?!\d)[.日일]?${TIME}`,
  ),
  new RegExp(String.raw`(?<!\d)(?<year>(?:19|20)\d\d)[- ]${NAME}[- ](?<day>\d{1,2})(?!\d)`, 'i'),
  new RegExp(
    String.raw`(?<!\d)(?<day>\d{1,2})(?:st|nd|rd|th)?[-. /,]{0,3}(?:(?:of|de) )?${NAME}[-. /,]{1,3}(?:de )?(?<year>(?:19|20)?\d\d)(?!\d)${TIME}`,
    'i',
  ),
  new RegExp(
    String.raw`\b${NAME}[. -]{1,3}(?<day>\d{1,2})(?:st|nd|rd|th)?,?(?: \d\d:\d\d(?::\d\d)?)?(?: [A-Z]{3,4})?[ -]{1,3}(?<year>(?:19|20)\d\d)(?!\d)`,
    'i',
  ),
  new RegExp(
    String.raw`(?<!\d)(?<day>\d{1,2})(?<mark>[-./]) ?(?<month>\d{1,2})[-./] ?(?<year>(?:19|20)\d\d)(?!\d)${TIME}`,
  ),
  /(?<!\d)(?<year>(?:19|20)\d\d)(?<month>\d\d)(?<day>\d\d)(?!\d{1,5}(?!\d))/,
  /^(?:before )?(?<name>[a-z]{3})-(?<year>(?:19|20)\d\d)$/i,
]

/** Counts hours east of Greenwich, by the zone names that occur in answers. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ['JST', 9],
  ['KST', 9],
])

/**
 * Returns the day of the first date in a text as YYYY-MM-DD: in UTC if time and zone are given, else as written; `undefined` if there is
 * none. A month alone is its first day; `03/04` is read in the given order if that is a date.
 */
export function parseWhoisDate(text: string, order: DateOrder = 'day'): string | undefined {
  const written = text.slice(0, MAX_LENGTH)
  for (const form of FORMS) {
    const groups = form.exec(written)?.groups
    const date = groups === undefined ? undefined : formatDay(groups, order)
    if (date !== undefined) return date
  }
  return undefined
}

function formatDay(groups: Readonly<Record<string, string | undefined>>, order: DateOrder): string | undefined {
  const year = fullYear(groups['year'] ?? '')
  const name = groups['name']
  const named = name === undefined ? Number(groups['month']) : parseMonth(name)
  const numbered = Number(groups['day'] ?? 1)
  const isMonthFirst = groups['mark'] !== undefined && order === 'month'
  // 09/14/2019 can only be the American order.
  const swapped = numbered <= 12 && (isMonthFirst || (groups['mark'] === '/' && named > 12))
  const [month, day] = swapped ? [numbered, named] : [named, numbered]
  const time = Date.UTC(year, month - 1, day)
  const read = new Date(time)
  if (month < 1 || month > 12 || read.getUTCMonth() !== month - 1 || read.getUTCDate() !== day) return undefined
  const minutes = Number(groups['hour'] ?? 0) * 60 + Number(groups['minute'] ?? 0)
  const offset = groups['hour'] === undefined ? 0 : offsetMinutes(groups['zone'] ?? '')
  return new Date(time + (offset === 0 ? 0 : minutes - offset) * 60_000).toISOString().slice(0, 10)
}

/** Returns 1 to 12, or 0 if the name is no month. */
function parseMonth(name: string): number {
  const text = name.toLowerCase()
  return MONTHS.findIndex((starts) => starts.some((start) => text.startsWith(start))) + 1
}

function fullYear(text: string): number {
  const year = Number(text)
  return text.length === 4 ? year : year + (year < 70 ? 2000 : 1900)
}

function offsetMinutes(zone: string): number {
  const name = zone.replace(/[()]/g, '')
  const shift = /^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?$/.exec(name)
  if (shift === null) return (ZONES.get(name) ?? 0) * 60
  const minutes = Number(shift[2]) * 60 + Number(shift[3] ?? 0)
  return shift[1] === '-' ? -minutes : minutes
}
