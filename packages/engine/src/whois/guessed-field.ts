import { WHOIS_FORMATS, type WhoisField } from '@sallyport/data/whois-formats'
import type { DateOrder } from './date-order.ts'
import { parseWhoisDate } from './dates.ts'
import { hostsIn, isAddressLike } from './values.ts'

/** Characters; what is longer is no date and no list of servers on one line. */
const MAX_VALUE = 200

const { dates, otherDates, server, noServer, registrar, noRegistrar } = WHOIS_FORMATS.guesses
const DATES = Object.entries(dates) as [keyof typeof dates, readonly string[]][]

/**
 * The field of a label that no table holds: a word of it names a date and a date follows, or it names a server and a hostname
 * follows and nothing else, or it names the registrar. Of dates and servers a label alone decides nothing.
 */
export function guessedField(label: string, value: string, order: DateOrder): WhoisField | undefined {
  if (label === '' || value === '' || value.length > MAX_VALUE) return undefined
  const words = ` ${label} `
  const has = (stems: readonly string[]) => stems.some((stem) => words.includes(stem))
  if (has(server) && !has(noServer) && areServers(value)) return 'nameservers'
  if (has(registrar) && !has(noRegistrar)) return /^[^\d:/@]{2}/.test(value) ? 'registrar' : undefined
  if (has(otherDates) || !/^\W?\d|^[a-z]{3,9}[ .-]\d/i.test(value)) return undefined
  const field = DATES.find(([, stems]) => has(stems))?.[0]
  return field !== undefined && parseWhoisDate(value, order) !== undefined ? field : undefined
}

/** Whether a value is a server's name, or several, and addresses. */
function areServers(value: string): boolean {
  const [name = '', ...rest] = value.split(/[\s,;]+/)
  return hostsIn(name).length === 1 && rest.every((word) => isAddressLike(word) || hostsIn(word).length === 1)
}
