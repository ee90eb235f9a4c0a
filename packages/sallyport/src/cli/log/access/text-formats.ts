import { agentReader, hasAgentPlace } from './agent-place.ts'
import { type CommonLine, commonLine, unescaped } from './common-line.ts'
import type { AccessFormat, ReadLine } from './format.ts'
import { frontReader } from './in-front.ts'
import { addressIn, type Reading, readingOf, requestLine } from './reading.ts'
import { REFUSED_FORMATS } from './refused-formats.ts'

const CURES = {
  address: 'Log one address in front, that of the client: %a in Apache, $remote_addr in nginx.',
  userAgent:
    'The combined form has the referrer and the user agent behind the bytes: log in it, name the text (ua="…"), or give --format combined.',
} as const

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
        const common = userAgent === undefined ? undefined : commonLine(line)
        return common && commonReading(common, common.words[0], userAgent === '-' && !isKept ? undefined : userAgent)
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
  { name: 'nginx-proxy-manager', of: 'Nginx Proxy Manager', open: () => proxyManagerReading },
  {
    name: 'vhost_combined',
    of: 'Apache vhost_combined, and others with the host before the address',
    cures: CURES,
    open: (first, isSaid) => combinedReader(first, isSaid ? 'host' : undefined, true),
  },
  {
    name: 'combined',
    of: 'nginx, Apache, lighttpd and most others',
    cures: CURES,
    open: (first, isSaid) => combinedReader(first, isSaid ? 'client' : undefined, false),
  },
  {
    name: 'common',
    of: 'common log format',
    cures: { userAgent: 'The common log format has no place for it: log in combined format.' },
    open: () => (line) => (commonLine(line) === undefined ? undefined : { lacks: 'userAgent' }),
  },
  { name: 'alb', of: 'load balancers of AWS', open: () => balancerReading },
  { name: 's3', of: 'access logs of AWS S3', open: () => bucketReading },
  ...REFUSED_FORMATS,
]

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

/** Reads the lines that begin with a host, or those that do not. */
function combinedReader(first: readonly string[], said: 'host' | 'client' | undefined, hasHost: boolean): ReadLine {
  const lines = first.flatMap((line) => commonLine(line) ?? [])
  const frontOf = frontReader(lines, said)
  const agentOf = agentReader(lines, { isSaid: said !== undefined })
  return (line) => {
    const common = commonLine(line)
    if (common === undefined) return undefined
    const front = frontOf(common)
    if (front.hasHost !== hasHost) return undefined
    const userAgent = agentOf(common)
    return userAgent === undefined && !hasAgentPlace(common) ? undefined : commonReading(common, front.ip, userAgent)
  }
}

function commonReading(
  { time, quoted, status }: CommonLine,
  ip: string | undefined,
  userAgent: string | undefined,
): Reading {
  return readingOf({
    ip,
    ...(requestLine(quoted[0] ?? '') ?? { target: undefined }),
    userAgent,
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

/** `owner bucket [21/Nov/2026:10:00:00 +0000] 192.0.2.7 requester id REST.GET.OBJECT key "GET /a HTTP/1.1" 200 - 113 - 7 - "-" "curl/8.5.0" -` */
const BUCKET =
  /^\S+ \S+ \[([^\]"]+)\] (\S+) \S+ \S+ [A-Z]+\.\S+ \S+ (?:"([^"]*)"|-) (\d{3}|-) \S+ \S+ \S+ \S+ \S+ (?:"[^"]*"|-) (?:"([^"]*)"|(-)) /

const bucketReading: ReadLine = (line) => {
  const [, at, ip, request = '', status, userAgent, absent] = BUCKET.exec(line) ?? []
  if (at === undefined) return undefined
  return readingOf({
    ip,
    ...(requestLine(request) ?? { target: undefined }),
    userAgent: userAgent ?? absent,
    at: [at],
    status,
  })
}

/** `[21/Nov/2026:10:00:00 +0000] - 200 200 - GET https a.example "/a" [Client 192.0.2.7] [Length 12] [Gzip -] [Sent-to 10.0.0.2] "curl/8.5.0" "-"` */
const PROXY_MANAGER =
  /^\[([^\]"]+)\] ([^"]*)"([^"]*)" \[Client ([^\]]+)\] \[Length [^\]]*\] \[Gzip [^\]]*\] (?:\[Sent-to [^\]]*\] )?"([^"]*)" "/

const proxyManagerReading: ReadLine = (line) => {
  const [, at, words = '', target = '', ip, userAgent = ''] = PROXY_MANAGER.exec(line) ?? []
  if (at === undefined) return undefined
  const [status, , method] = words.trim().split(' ').slice(-5)
  return readingOf({ ip, method, target: unescaped(target), userAgent: unescaped(userAgent), at: [at], status })
}
