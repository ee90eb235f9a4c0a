import { linesOfFile } from './lines.ts'

/** A request as an access log keeps it. */
export interface LoggedRequest {
  readonly ip: string
  readonly method: string
  readonly target: string
  readonly userAgent?: string | undefined
  /** Milliseconds since the epoch; absent where the log does not say. */
  readonly at?: number | undefined
  /** Status of the answer, if the log has it. */
  readonly status?: number | undefined
}

/**
 * The requests of a log in combined format or JSON lines, gzipped if its name ends in `.gz`; `undefined` for a line that
 * is neither.
 */
export async function* readAccessLog(file: string): AsyncIterable<LoggedRequest | undefined> {
  for await (const line of linesOfFile(file)) {
    if (line === undefined) yield undefined
    else if (line.trim() !== '') yield parseLogLine(line)
  }
}

export function parseLogLine(line: string): LoggedRequest | undefined {
  return line.startsWith('{') ? fromJson(line) : fromCombined(line)
}

/**
 * `address identity user [time] "request" status bytes "referrer" "user agent"`. Parsed by its quotes: everything that a
 * client wrote is quoted, with its own quotes escaped.
 */
function fromCombined(line: string): LoggedRequest | undefined {
  const ip = line.slice(0, Math.max(0, line.indexOf(' ')))
  const [request = '', , userAgent] = quotedParts(line)
  const [method, target] = request.split(' ')
  if (ip === '' || method === undefined || target === undefined) return undefined
  const at = momentOf(line)
  const status = statusIn(line)
  return {
    ip,
    method,
    target,
    ...(userAgent !== undefined && userAgent !== '-' && { userAgent }),
    ...(at !== undefined && { at }),
    ...(status !== undefined && { status }),
  }
}

/** Status behind the quoted request. */
function statusIn(line: string): number | undefined {
  const [, status] = /^[^"]*"(?:[^"\\]|\\.)*" (\d{3})(?: |$)/.exec(line) ?? []
  return status === undefined ? undefined : Number(status)
}

/** `[21/Nov/2026:10:00:00 +0100]`, the first bracket before a quote: of the client's text only the user name precedes it. */
function momentOf(line: string): number | undefined {
  const [, day, month, year, clock, hours, minutes] =
    /\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] "/.exec(line) ?? []
  return day === undefined ? undefined : readMoment(`${day} ${month} ${year} ${clock} ${hours}${minutes}`)
}

function readMoment(text: string): number | undefined {
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? undefined : moment
}

function quotedParts(line: string): readonly string[] {
  const parts: string[] = []
  let start = -1
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') at++
    else if (line[at] === '"') {
      if (start >= 0) parts.push(line.slice(start, at).replaceAll('\\"', '"').replaceAll('\\\\', '\\'))
      start = start >= 0 ? -1 : at + 1
    }
  }
  return parts
}

/** The names that common servers and this project's own logs give. */
const NAMES = {
  ip: ['ip', 'client_ip', 'clientIp', 'remote_addr', 'remote_ip', 'remoteAddress'],
  method: ['method', 'request_method'],
  target: ['target', 'path', 'uri', 'url', 'request_uri'],
  userAgent: ['userAgent', 'user_agent', 'http_user_agent'],
  at: ['at', 'time', 'timestamp', '@timestamp', 'time_iso8601', 'date'],
} as const

function fromJson(line: string): LoggedRequest | undefined {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch {
    return undefined
  }
  const text = (names: readonly string[]) => textNamed(record, names)
  const [method, target] = text(['request'])?.split(' ') ?? []
  const ip = text(NAMES.ip)
  if (ip === undefined) return undefined
  const userAgent = text(NAMES.userAgent)
  const at = readMoment(text(NAMES.at) ?? '')
  const status = statusOf(record)
  return {
    ip,
    method: text(NAMES.method) ?? method ?? 'GET',
    target: text(NAMES.target) ?? target ?? '/',
    userAgent,
    at,
    status,
  }
}

function statusOf(record: unknown): number | undefined {
  const status = Number((record as { readonly status?: unknown } | null)?.status)
  return Number.isInteger(status) && status >= 100 && status <= 599 ? status : undefined
}

/** The first member of these names that is a text, of the record or of what it holds under `request` and `headers`. */
function textNamed(record: unknown, names: readonly string[]): string | undefined {
  if (typeof record !== 'object' || record === null) return undefined
  const own = new Map(Object.entries(record))
  for (const name of names) {
    const value: unknown = own.get(name)
    if (typeof value === 'string') return value
  }
  const inner: unknown = own.get('request')
  return typeof inner === 'object' ? textNamed(inner, names) : undefined
}
