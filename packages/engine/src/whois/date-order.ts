import type { WhoisField } from '@sallyport/data/whois-formats'
import { findField } from './labels.ts'
import type { Line } from './lines.ts'

/** Whether numbers such as `03/04/2019` name the day first or the month. One answer writes all of its dates alike. */
export type DateOrder = 'day' | 'month'

interface Numbered {
  readonly field: WhoisField
  readonly first: number
  readonly second: number
  readonly year: number
}

const NUMBERED = /(?<!\d)(\d{1,2})[-./] ?(\d{1,2})[-./] ?((?:19|20)\d\d)(?!\d)/
const MAX_READ = 80

/**
 * The order of an answer's dates: as the first date shows that can be read in one order only, else the one in which a domain
 * expires after it was registered and was not changed before, else the day first.
 */
export function findDateOrder(lines: readonly Line[]): DateOrder {
  const dates: Numbered[] = []
  for (const { label, value } of lines) {
    const field = findField(label)
    if (field === undefined) continue
    const match = NUMBERED.exec(value.slice(0, MAX_READ))
    if (match === null) continue
    const [first, second, year] = match.slice(1).map(Number) as [number, number, number]
    if (first > 12 && second <= 12) return 'day'
    if (second > 12 && first <= 12) return 'month'
    dates.push({ field, first, second, year })
  }
  return isInTime(dates, 'day') || !isInTime(dates, 'month') ? 'day' : 'month'
}

function isInTime(dates: readonly Numbered[], order: DateOrder): boolean {
  const readDay = (field: WhoisField) => {
    const date = dates.find((one) => one.field === field)
    if (date === undefined) return undefined
    const [day, month] = order === 'day' ? [date.first, date.second] : [date.second, date.first]
    return date.year * 10_000 + month * 100 + day
  }
  const registered = readDay('registeredOn')
  const changed = readDay('lastUpdated')
  if (registered === undefined) return true
  return registered <= (changed ?? registered) && registered <= (readDay('expiresOn') ?? registered)
}
