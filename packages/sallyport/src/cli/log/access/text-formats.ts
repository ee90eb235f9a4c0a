import { commonLine } from './common-line.ts'
import type { AccessFormat, ReadLine } from './format.ts'
import { addressIn, type Reading, readingOf, requestLine } from './reading.ts'

/** Formats of lines of words and quotes; of those that begin alike, the longer ones first. */
export const TEXT_FORMATS: readonly AccessFormat[] = [
  {
    name: 'traefik',
    of: 'Traefik, common log format',
    cures: { userAgent: 'Traefik logs it with accesslog.fields.headers.names.User-Agent=keep.' },
    open(first) {
      // Traefik writes `-` for a field that it does not log, and for one that was not sent. D386
      const isKept = first.some((line) => ![undefined, '-'].includes(traefikUserAgent(line)))
      return (line) => {
        const userAgent = traefikUserAgent(line)
        if (userAgent === undefined) return undefined
        return commonReading(line, { agent: userAgent === '-' && !isKept ? undefined : userAgent, host: false })
      }
    },
  },
  {
    name: 'haproxy',
    of: "HAProxy's own and its CLF",
    cures: {
      userAgent:
        'HAProxy logs it with http-request capture req.hdr(User-Agent) len 400 and ' +
        'log-format "%ci - - [%trl] %{+Q}r %ST %B \\"-\\" %{+Q,+E}[capture.req.hdr(0)]".',
    },
    open: () => (line) => (isHaproxy(line) || isHaproxyClf(line) ? { lacks: 'userAgent' } : undefined),
  },
  {
    name: 'vhost_combined',
    of: 'Apache vhost_combined, and others with the host before the address',
    open: () => (line) => commonReading(line, { host: true }),
  },
  {
    name: 'combined',
    of: 'nginx, Apache, lighttpd and most others',
    open: () => (line) => commonReading(line, { host: false }),
  },
  {
    name: 'common',
    of: 'common log format',
    cures: { userAgent: 'The common log format has no place for it: log in combined format.' },
    open: () => (line) => (commonLine(line) === undefined ? undefined : { lacks: 'userAgent' }),
  },
  { name: 'alb', of: 'load balancers of AWS', open: () => balancerReading },
  {
    name: 'iis',
    of: "IIS's own format, with commas",
    cures: { userAgent: 'IIS logs it in the W3C format, with the column cs(User-Agent).' },
    open: () => (line) => (IIS_OWN.test(line) ? { lacks: 'userAgent' } : undefined),
  },
]

/** `192.0.2.7, -, 03/20/05, 7:55:20, W3SVC2, SERVER, …` */
const IIS_OWN = /^[\da-f.:]+, [^,]*, \d\d?\/\d\d?\/\d{2,4}, \d\d?:\d\d:\d\d, /i

/** Fields of Traefik's behind the user agent: `17 "router@file" "http://10.0.0.2:80" 3ms`. */
const TRAEFIK_FIELDS = [/^\d+ms$/, /^(?:"|-$)/, /^(?:"|-$)/, /^(?:\d+|-)$/]

function traefikUserAgent(line: string): string | undefined {
  let rest = line
  for (const form of TRAEFIK_FIELDS) {
    const start = rest.endsWith('"') ? rest.lastIndexOf('"', rest.length - 2) : rest.lastIndexOf(' ') + 1
    if (start < 1 || !form.test(rest.slice(start))) return undefined
    rest = rest.slice(0, start).trimEnd()
  }
  // It quotes nothing within: a quote of the client's makes more parts.
  const [, , ...agent] = commonLine(rest)?.quoted ?? []
  return agent.length === 0 ? undefined : agent.join('"')
}

/** `10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 …`, syslog before it or not. */
function isHaproxy(line: string): boolean {
  const words = line.split(' ', MAX_WORDS)
  const time = words.findIndex((word) => /^\[\d\d\/[A-Z][a-z]{2}\/\d{4}:[\d:.]+\]$/.test(word))
  return (
    time > 0 && addressIn(words[time - 1] ?? '') !== undefined && /^[-+\d]+(?:\/[-+\d]+)+$/.test(words[time + 3] ?? '')
  )
}

/** In front of the times of a line of HAProxy's, with those of syslog. */
const MAX_WORDS = 16

/** `"GET / HTTP/1.1" 200 2750 "" "" 33317 568 "http-in" …`: HAProxy's CLF has nothing where others have the user agent. */
function isHaproxyClf(line: string): boolean {
  return /^ -?\d+ \d+ "" "" \d+ \d+ "/.test(commonLine(line)?.rest ?? '')
}

/** Behind the request: status, bytes and referrer, and `-`, which some servers do not quote, for a user agent that was not sent. */
const ABSENT = /^ (?:\d{3}|-) (?:\d+|-) (?:"[^"]*"|-) -$/

interface CommonShape {
  /** Whether the words begin with the host that was asked for. */
  readonly host: boolean
  /** User agent of a format that writes it otherwise. */
  readonly agent?: string | undefined
}

function commonReading(line: string, shape: CommonShape): Reading | undefined {
  const common = commonLine(line)
  if (common === undefined) return undefined
  const { words, time, quoted, status } = common
  const [request = '', , third = ABSENT.test(common.rest) ? '-' : undefined] = quoted
  const [first = '', second = ''] = words
  // lighttpd has the host behind the address, and either may be asked for by an address.
  // `192.0.2.7, 10.0.0.1` is a list of addresses, and nothing says which of them is believed.
  if (first.endsWith(',')) return shape.host ? undefined : { lacks: 'address' }
  const hasHost = addressIn(second) !== undefined && (words.length >= 4 || addressIn(first) === undefined)
  if (hasHost !== shape.host || (third === undefined && !('agent' in shape))) return undefined
  return readingOf({
    ip: hasHost ? second : first,
    ...(requestLine(request) ?? { target: undefined }),
    userAgent: 'agent' in shape ? shape.agent : third,
    at: [time],
    status,
  })
}

/** `https 2026-11-21T10:00:00.123456Z app/name/id 192.0.2.7:2817 … 200 200 0 57 "GET https://a.example:443/ HTTP/1.1" "curl/8.5.0" …` */
const BALANCER =
  /^(?:(?:https?|h2|grpcs|wss?) )?(\d{4}-\d\d-\d\dT[\d:.]+Z) \S+ (\S+) \S+ \S+ \S+ \S+ (\d{3}|-) \S+ \S+ \S+ "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"/

const balancerReading: ReadLine = (line) => {
  const [, at, ip, status, request = '', userAgent] = BALANCER.exec(line) ?? []
  if (at === undefined) return undefined
  return readingOf({ ip, ...(requestLine(request) ?? { target: undefined }), userAgent, at: [at], status })
}
