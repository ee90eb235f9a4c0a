import { type Address, parseAddress, parseAddressIn } from '@sallyport/core'
import { momentAmong } from './moment.ts'

/** A request as an access log keeps it. */
export interface LoggedRequest {
  readonly address: Address
  readonly method: string
  readonly target: string
  /** Empty: the log says that there was none. */
  readonly userAgent: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Status of the answer, if the log has it. */
  readonly status?: number | undefined
}

/** Members without which a line is not judged, in the words of a count. */
export const LACKS = {
  request: 'without a request',
  address: "without the client's address",
  time: 'without a time',
  userAgent: 'without a user agent',
  columns: 'without names of columns',
} as const
export type Lack = keyof typeof LACKS

/** Content of a line: a request, or what is missing for one. */
export type Reading = LoggedRequest | { readonly lacks: Lack }

/** The members of a request as a log has them, each letter a byte that came; absent where it does not have them. */
export interface Found {
  readonly ip: unknown
  readonly method?: unknown
  readonly target: unknown
  readonly userAgent: string | undefined
  readonly at: readonly unknown[]
  readonly status?: unknown
}

/** The request of a line. Nothing is made up: where the time or the user agent is not read, there is none. */
export function readingOf({ ip, method, target, userAgent, at, status }: Found): Reading {
  const address = typeof ip === 'string' ? addressIn(ip.trim()) : undefined
  if (address === undefined) return { lacks: 'address' }
  if (typeof target !== 'string' || target === '' || target === '-') return { lacks: 'request' }
  const moment = momentAmong(at)
  if (moment === undefined) return { lacks: 'time' }
  if (userAgent === undefined) return { lacks: 'userAgent' }
  return {
    address,
    method: typeof method === 'string' && method !== '' ? method : 'GET',
    target: targetIn(target),
    userAgent: userAgent === '-' ? '' : inBytes(userAgent),
    at: moment,
    ...statusMember(status),
  }
}

function statusMember(given: unknown): Pick<LoggedRequest, 'status'> {
  const status = Number(given)
  return Number.isInteger(status) && status >= 100 && status <= 599 ? { status } : {}
}

/** An address, alone or with a port behind it. */
export function addressIn(text: string): Address | undefined {
  const bare = parseAddress(text)
  if (bare !== undefined) return bare
  const colon = text.lastIndexOf(':')
  if (colon < 0 || !/^\d{1,5}$/.test(text.slice(colon + 1))) {
    return text.startsWith('[') && text.endsWith(']') ? parseAddressIn(text, 1, text.length - 1) : undefined
  }
  const bracketed = text.startsWith('[') && text[colon - 1] === ']'
  return bracketed ? parseAddressIn(text, 1, colon - 1) : parseAddressIn(text, 0, colon)
}

/** Method and target of `GET /path HTTP/1.1`; a target may hold spaces, where a client sent such a line. */
export function requestLine(text: string): Pick<Found, 'method' | 'target'> | undefined {
  const [, method, target] = /^([A-Z][\w-]*) (\S.*)$/.exec(text) ?? []
  if (method === undefined || target === undefined) return undefined
  return { method, target: target.replace(/ HTTP\/\d(?:\.\d)?$/, '') }
}

/** A text without its escapes, each a byte. */
export function percentDecoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** The path of a target that names its origin too, as a load balancer writes it. */
function targetIn(target: string): string {
  const path = target.replace(/^(?:https?|wss?):\/\/[^/?#]*/i, '')
  return inBytes(path.startsWith('/') || path === '*' ? path : `/${path}`)
}

/** A text whose letters are bytes: those beyond, which JSON escapes, as the bytes of their UTF-8. */
function inBytes(text: string): string {
  return text.replace(/[\u{100}-\u{10ffff}]+/gu, (letters) => Buffer.from(letters).toString('latin1'))
}
