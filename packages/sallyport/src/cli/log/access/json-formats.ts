import { readEntry } from '@sallyport/engine'
import { isRequest } from '../entry.ts'
import {
  flatOf,
  type Members,
  memberOf,
  membersOf,
  type Plain,
  recordIn,
  sentText,
  textOf,
  userAgentIn,
} from '../members.ts'
import type { AccessFormat } from './format.ts'
import { type Found, percentDecoded, type Reading, readingOf, requestLine } from './reading.ts'

/** Formats of a JSON object a line; the last takes any that has members by the usual names. */
export const JSON_FORMATS: readonly AccessFormat[] = [
  {
    name: 'sallyport',
    of: 'the decision log',
    cures: {
      address: 'Addresses are whole in it with log.addresses: full.',
      userAgent: 'Lines of earlier versions do not have it.',
    },
    open: () => (line, record) => {
      const entry = record && readEntry(inLetters(line))
      if (entry === undefined) return undefined
      if (!isRequest(entry) || entry.answeredBy === 'check') return 'comment'
      const { client, method, path, userAgent, time, status, action, answeredBy, refusedFor } = entry
      // Nothing was decided about a call of the API; other programs name the members of their lines alike.
      if (action === undefined) return (answeredBy ?? refusedFor) === undefined ? undefined : 'comment'
      return readingOf({ ip: client, method, target: path, userAgent, at: [time], status })
    },
  },
  {
    name: 'caddy',
    of: 'Caddy, JSON and console',
    cures: {
      address: 'Caddy logs it as request>client_ip: hash and replace it in no filter of the log.',
      userAgent: 'Caddy logs it within request>headers: delete them in no filter of the log.',
    },
    open: () => (line, record) => read(record ?? consoleRecord(line), caddyRequest),
  },
  {
    name: 'traefik-json',
    of: 'Traefik, JSON',
    cures: { userAgent: 'Traefik logs it with accesslog.fields.headers.names.User-Agent=keep.' },
    open(first) {
      // Traefik leaves a header out that it does not log, and one that was not sent.
      const isKept = first.some((line) => traefikUserAgent(recordIn(line)) !== undefined)
      return (_, record) => read(record, (members) => traefikRequest(members, isKept))
    },
  },
  {
    name: 'pino-http',
    of: 'pino-http, bunyan, express-winston',
    cures: {
      address: 'pino-http logs it as req.remoteAddress; express-winston as req.ip, with ip in its requestWhitelist.',
      userAgent: 'The loggers have it within req.headers: keep them in the serializer.',
    },
    open: () => (_, record) => read(record, pinoRequest),
  },
  {
    name: 'akamai',
    of: 'Akamai DataStream 2, JSON',
    cures: { userAgent: 'Akamai logs it with the field User-Agent in the stream.' },
    open: () => (_, record) => read(record, akamaiRequest),
  },
  {
    name: 'vercel',
    of: "Vercel's drains",
    cures: {
      request: 'Vercel repeats a request in each line that its function writes: log requests in the application.',
    },
    open: () => (_, record) => (textOf(record, 'deploymentId') === undefined ? undefined : { lacks: 'request' }),
  },
  {
    name: 'json',
    of: 'nginx and others, JSON with the usual names',
    cures: {
      address: 'Log the address of the client as remote_addr or client_ip.',
      time: 'Log the time as time, in ISO 8601.',
      userAgent: 'Log it as http_user_agent or user_agent.',
    },
    open(first) {
      // A logger may keep some headers alone: a line that has it shows that the user agent is kept.
      const isKept = first.some((line) => Boolean(userAgentIn(headersIn(recordIn(line)))))
      return (_, record) => read(record, (members) => anyRequest(members, isKept))
    },
  },
]

function read(
  record: Members | undefined,
  find: (record: Members) => Found | 'comment' | undefined,
): Reading | 'comment' | undefined {
  const found = record && find(record)
  return found === undefined || found === 'comment' ? found : readingOf(found)
}

/** A text of Node's, where each letter is a byte that came, from the UTF-8 in which it was written. */
function inLetters(text: string): string {
  return Buffer.from(text, 'latin1').toString()
}

/** A request is in the lines about its faults too, which other loggers write. */
const CADDY_LOGGER = 'http.log.access'

function caddyRequest(record: Members): Found | 'comment' | undefined {
  const request = membersOf(memberOf(record, 'request'))
  const target = textOf(request, 'uri')
  const ip = textOf(request, 'client_ip', 'remote_ip', 'remote_addr')
  if (target === undefined || ip === undefined || !Object.hasOwn(record, 'status')) return undefined
  if (textOf(record, 'logger')?.startsWith(CADDY_LOGGER) === false) return 'comment'
  return {
    ip,
    method: textOf(request, 'method'),
    target,
    userAgent: userAgentIn(memberOf(request, 'headers')),
    at: [memberOf(record, 'ts'), memberOf(record, 'time'), memberOf(record, 'timestamp')],
    status: memberOf(record, 'status'),
  }
}

/** A line of Caddy's console encoder as its JSON encoder writes it: time, level, logger and message stand before the rest. */
function consoleRecord(line: string): Members | undefined {
  if (!line.includes('\t{')) return undefined
  const [ts, , logger, , rest = ''] = line.split('\t')
  const record = recordIn(rest)
  return record && { ...record, ts, logger }
}

function akamaiRequest(record: Members): Found | undefined {
  const ip = textOf(record, 'cliIP')
  const path = textOf(record, 'reqPath')
  if (ip === undefined || path === undefined) return undefined
  const target = path.startsWith('/') ? path : `/${percentDecoded(path)}`
  const query = textOf(record, 'queryStr') ?? '-'
  const agent = textOf(record, 'UA')
  return {
    ip,
    method: textOf(record, 'reqMethod'),
    target: query === '-' || query === '' ? target : `${target}?${query}`,
    // A space is `+` in the one form of its escapes, and `%20` in the other.
    userAgent: agent && percentDecoded(agent.includes('%20') ? agent : agent.replaceAll('+', ' ')),
    at: [memberOf(record, 'reqTimeSec')],
    status: memberOf(record, 'statusCode'),
  }
}

function traefikRequest(record: Members, isKept: boolean): Found | undefined {
  const target = textOf(record, 'RequestPath')
  // Addresses of X-Forwarded-For, as far as the entry point trusts it: the last is the one that its peer saw.
  const ip = textOf(record, 'ClientHost', 'ClientAddr')?.split(',').at(-1)
  if (target === undefined || ip === undefined) return undefined
  return {
    ip,
    method: textOf(record, 'RequestMethod'),
    target,
    userAgent: traefikUserAgent(record) ?? (isKept ? '' : undefined),
    at: [memberOf(record, 'StartUTC'), memberOf(record, 'StartLocal'), memberOf(record, 'time')],
    status: memberOf(record, 'DownstreamStatus'),
  }
}

function traefikUserAgent(record: Members | undefined): string | undefined {
  const text = textOf(record, 'request_User-Agent', 'request_user-agent')
  return text === 'REDACTED' ? undefined : text
}

function pinoRequest(record: Members): Found | 'comment' | undefined {
  // express-winston has both in one member.
  const within = membersOf(memberOf(record, 'meta')) ?? record
  const req = membersOf(memberOf(within, 'req'))
  const target = textOf(req, 'originalUrl', 'url')
  const res = membersOf(memberOf(within, 'res'))
  if (target === undefined) return undefined
  const isEnd = res !== undefined || Object.hasOwn(within, 'responseTime')
  // A line that an application wrote within a request has its `req` too.
  const isLoggers = Object.hasOwn(record, 'level') && Object.hasOwn(record, 'msg')
  if (!isEnd) return isLoggers || typeof memberOf(record, 'level') === 'number' ? 'comment' : undefined
  const userAgent = sentText(memberOf(req, 'userAgent')) ?? userAgentIn(memberOf(req, 'headers'))
  return {
    ip: textOf(req, 'remoteAddress', 'remote_address', 'ip', 'clientIp'),
    method: textOf(req, 'method'),
    target: inLetters(target),
    userAgent: userAgent === undefined ? undefined : inLetters(userAgent),
    at: [memberOf(record, 'time'), memberOf(record, 'timestamp'), memberOf(record, '@timestamp')],
    status: memberOf(res, 'statusCode') ?? memberOf(res, 'status'),
  }
}

/** Places of the members: the object itself, and the objects in which a request is written. */
const PLACES = [
  '',
  ...wordsOf(`request. req. httprequest. http. http.request. http.response. response. res. nginx. nginx.access.
    apache.access. access. properties.`),
]

/** The usual paths of each member, as `flatOf` writes them, by their rank: the best first. */
const RANKS = {
  ip: ranksOf(`clientip client.ip client.address source.ip source.address remoteaddr remoteip remoteaddress ip clientaddr
    clientaddress clienthost remotehost downstreamremoteaddress network.client.ip client address remote`),
  method: ranksOf('requestmethod method verb httpmethod clientrequestmethod'),
  line: ranksOf('request requestline'),
  /** With its query, which the others may lack. */
  whole: new Map([['requesturi', 0]]),
  target:
    ranksOf(`requesturi originalurl uri url target path requestpath requesturl clientrequesturi url.original url.full
    url.path urlpath request xenvoyoriginpath`),
  userAgent:
    ranksOf(`httpuseragent useragent.original useragent agent ua clientrequestuseragent requestuseragent headers.useragent
    headers.httpuseragent requestheaders.useragent`),
  at: ranksOf(`msec timeiso8601 timelocal time timestamp ts at date datetime starttime startedat edgestarttimestamp
    requesttime`),
  status: ranksOf(`status statuscode responsecode responsestatus edgeresponsestatus response httpstatus
    httpstatuscode code`),
} as const

function ranksOf(names: string): ReadonlyMap<string, number> {
  const paths = PLACES.flatMap((place) => wordsOf(names).map((name) => place + name))
  return new Map(paths.map((path, rank) => [path, rank]))
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/)
}

function anyRequest(record: Members, isKept: boolean): Found | undefined {
  const flat = flatOf(record)
  const all = (ranks: ReadonlyMap<string, number>) =>
    [...flat]
      .flatMap(([path, value]) => {
        const rank = ranks.get(path)
        return rank === undefined ? [] : [{ rank, value }]
      })
      .toSorted((x, y) => x.rank - y.rank)
      .map(({ value }) => unquoted(value))
  const first = (ranks: ReadonlyMap<string, number>) => all(ranks).find((value) => typeof value === 'string')
  // One that has a text goes before those that are null.
  const textOrNull = (ranks: ReadonlyMap<string, number>) =>
    first(ranks) ?? sentText(all(ranks).find((value) => value === null))
  const line = first(RANKS.line) ?? ''
  const asked = requestLine(line)
  const ip = textOrNull(RANKS.ip)
  const method = asked?.method ?? first(RANKS.method)
  // Logstash has the name of the log in `path`.
  const path = method !== undefined && line.startsWith('/') ? line : undefined
  const target = first(RANKS.whole) ?? asked?.target ?? path ?? first(RANKS.target)
  // A line that names neither is about something else.
  if (ip === undefined || target === undefined) return undefined
  return {
    ip,
    method,
    target,
    userAgent: textOrNull(RANKS.userAgent) ?? agentAmongHeaders(record, isKept),
    at: all(RANKS.at),
    status: all(RANKS.status).find((value) => /^[1-5]\d\d$/.test(String(value))),
  }
}

/** Members in which loggers write a request, with its headers. */
const REQUESTS = ['request', 'req', 'httpRequest']

function headersIn(record: Members | undefined): unknown {
  const requests = REQUESTS.map((name) => membersOf(memberOf(record, name)))
  return requests.map((request) => memberOf(request, 'headers')).find((headers) => headers !== undefined)
}

/** A user agent that is not among the headers was not sent where it is kept. */
function agentAmongHeaders(record: Members, isKept: boolean): string | undefined {
  // Google Cloud, whose entries have this id, leaves out what was not sent.
  if (Object.hasOwn(record, 'insertId') && REQUESTS.some((name) => Object.hasOwn(record, name))) return ''
  return userAgentIn(headersIn(record)) || (isKept && headersIn(record) !== undefined ? '' : undefined)
}

/** A value without the quotes that patterns of Logstash leave on it. */
function unquoted(value: Plain): Plain {
  const isQuoted = typeof value === 'string' && value.length > 1 && value.startsWith('"') && value.endsWith('"')
  return isQuoted ? value.slice(1, -1) : value
}
