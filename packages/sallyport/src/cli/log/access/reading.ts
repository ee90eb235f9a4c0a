import {
  type Address,
  type ClientTrust,
  counted,
  formatAddress,
  type InspectedEvent,
  type McpRequest,
  parseAddress,
  resolveClient,
} from '@sallyport/core'
import { parseMoment } from './moment.ts'

export interface LoggedRequest {
  readonly address: Address
  readonly method: string
  readonly target: string
  /** Empty: the log says that there was no user agent. */
  readonly userAgent: string
  readonly at: number
  readonly status?: number | undefined
  /** Calls of an MCP client; absent: the log does not record calls. */
  readonly mcp?: McpRequest | undefined
  readonly event?: InspectedEvent | undefined
}

/** Members without which a line is not judged, worded for a count. */
const LACKS = {
  request: 'without a request',
  address: "without the client's address",
  time: 'without a time',
  userAgent: 'without a user agent',
} as const
type Lack = keyof typeof LACKS

export type Reading = LoggedRequest | { readonly lacks: Lack }

export interface LoggedLine {
  readonly reading: Reading
  readonly format?: string | undefined
  /** True where later requests were read long before. */
  readonly isLate?: true | undefined
}

/** Reads a line; `undefined` for one of another format. A `comment` belongs to the format and describes no request. */
export type ReadLine = (line: string) => Reading | 'comment' | undefined

export interface AccessFormat {
  readonly name: string
  /** Opens a reader of a log with these first lines, which finds clients by `trust`. `isNamed`: the operator has named this format. */
  open(first: readonly string[], isNamed: boolean, trust: ClientTrust): ReadLine
}

/** The members of a request as a log has them, with each letter a received byte. */
export interface Found {
  readonly ip: unknown
  readonly forwarded?: unknown
  readonly method?: unknown
  readonly target: unknown
  readonly userAgent: unknown
  readonly at: unknown
  readonly status?: unknown
}

/** Parses the request of a line. It invents nothing: a line without a time or a user agent yields no request. */
export function parseReading(
  { ip, forwarded, method, target, userAgent, at, status }: Found,
  trust: ClientTrust,
): Reading {
  const peer = typeof ip === 'string' ? parseAddressText(ip.trim()) : undefined
  if (peer === undefined) return { lacks: 'address' }
  const fields = typeof forwarded === 'string' && forwarded !== '-' ? [trust.header, forwarded] : []
  const { address = peer } = resolveClient({ peer: formatAddress(peer), fields }, trust)
  if (typeof target !== 'string' || target === '' || target === '-') return { lacks: 'request' }
  const moment = parseMoment(at)
  if (moment === undefined) return { lacks: 'time' }
  // Traefik writes REDACTED for a header that it must hide.
  if (typeof userAgent !== 'string' || userAgent === 'REDACTED') return { lacks: 'userAgent' }
  const answered = Number(status)
  return {
    address,
    method: typeof method === 'string' && method !== '' ? method : 'GET',
    target: cutOrigin(target),
    userAgent: userAgent === '-' ? '' : toBytes(userAgent),
    at: moment,
    ...(Number.isInteger(answered) && answered >= 100 && answered <= 599 && { status: answered }),
  }
}

export function parseAddressText(text: string): Address | undefined {
  const [port = ''] = /:\d{1,5}$/.exec(text) ?? []
  const host = text.slice(0, text.length - port.length)
  return parseAddress(text) ?? parseAddress(host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host)
}

/** Returns method and target of `GET /path HTTP/1.1`; a target contains spaces where a client sent such a line. */
export function parseRequestLine(text: string): Pick<Found, 'method' | 'target'> | undefined {
  const [, method, target] = /^([A-Z][\w-]*) (\S.*)$/.exec(text) ?? []
  if (method === undefined || target === undefined) return undefined
  return { method, target: target.replace(/ HTTP\/\d(?:\.\d)?$/, '') }
}

function cutOrigin(target: string): string {
  const path = target.replace(/^(?:https?|wss?):\/\/[^/?#]*/i, '')
  return toBytes(path.startsWith('/') || path === '*' ? path : `/${path}`)
}

/** Converts letters beyond one byte, which JSON escapes, to the bytes of their UTF-8. */
function toBytes(text: string): string {
  return text.replace(/[\u{100}-\u{10ffff}]+/gu, (letters) => Buffer.from(letters).toString('latin1'))
}

/** Counts the lines of a log that were not judged, by the member that they lack. */
export type Unread = Readonly<Partial<Record<Lack, number>>>

export function sumUnread(unread: Unread): number {
  return Object.values(unread).reduce((sum, count) => sum + count, 0)
}

/** Writes `2 without a time, 1 without a request`. */
export function describeLacks(unread: Unread): string {
  return Object.entries(unread)
    .toSorted(([, x], [, y]) => y - x)
    .map(([lack, count]) => `${count.toLocaleString('en-US')} ${LACKS[lack as Lack]}`)
    .join(', ')
}

export function describeUnread(unread: Unread): string {
  return `${counted(sumUnread(unread), 'line')} not read: ${describeLacks(unread)}`
}
