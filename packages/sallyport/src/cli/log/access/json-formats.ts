import { readEntry } from '@sallyport/engine'
import { isRequest } from '../entry.ts'
import { flatKey, flatOf, type Members, memberOf, membersOf, type Plain, recordIn, sentText } from '../members.ts'
import type { AccessFormat } from './format.ts'
import { type Found, readingOf, requestLine } from './reading.ts'

/** Members of a line by their names, of which the first that it has counts; a dot stands between those within each other. */
export type FieldNames = Readonly<Record<'ip' | 'method' | 'target' | 'userAgent' | 'at' | 'status', string>>

/** The names of nginx and of most who log JSON by their own format. */
export const USUAL_NAMES: FieldNames = {
  ip: 'remote_addr client_ip remote_ip ip',
  method: 'request_method method verb',
  target: 'request_uri request uri url path',
  userAgent: 'http_user_agent user_agent agent',
  at: 'msec time_iso8601 time_local time timestamp @timestamp ts',
  status: 'status status_code response',
}

/** Formats of a JSON object a line: our own, those of the servers that are known, and the usual names. */
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
  jsonFormat({
    name: 'caddy',
    of: 'Caddy, JSON',
    names: {
      ip: 'request.client_ip request.remote_ip request.remote_addr',
      method: 'request.method',
      target: 'request.uri',
      userAgent: 'request.headers.user-agent',
      at: 'ts time timestamp',
      status: 'status',
    },
    logger: 'http.log.access',
    headers: ['request', 'headers'],
    cures: {
      address: 'Caddy logs it as request>client_ip: hash and replace it in no filter of the log.',
      userAgent: 'Caddy logs it within request>headers: delete them in no filter of the log.',
    },
  }),
  jsonFormat({
    name: 'traefik-json',
    of: 'Traefik, JSON',
    names: {
      ip: 'ClientHost ClientAddr',
      method: 'RequestMethod',
      target: 'RequestPath',
      userAgent: 'request_User-Agent',
      at: 'StartUTC StartLocal time',
      status: 'DownstreamStatus',
    },
    leavesOut: true,
    cures: { userAgent: 'Traefik logs it with accesslog.fields.headers.names.User-Agent=keep.' },
  }),
  namedFormat('json', USUAL_NAMES),
]

/** The format of objects with these names of members. */
export function namedFormat(name: string, names: FieldNames): AccessFormat {
  return jsonFormat({
    name,
    of: 'nginx and others, JSON with the usual names',
    names,
    cures: {
      address: 'Log the address of the client as remote_addr or client_ip, or name its member: --fields ip=NAME.',
      time: 'Log the time as time, in ISO 8601, or name its member: --fields at=NAME.',
      userAgent: 'Log it as http_user_agent or user_agent, or name its member: --fields userAgent=NAME.',
    },
  })
}

interface JsonFormat extends Omit<AccessFormat, 'open'> {
  readonly names: FieldNames
  /** Beginning of the loggers whose lines are about the end of a request; others write of requests too. */
  readonly logger?: string | undefined
  /** Place of all headers that came: of one that is not there, none was sent. */
  readonly headers?: readonly string[] | undefined
  /** Whether a header is left out that is not logged, and one that was not sent: a line that has it tells which. */
  readonly leavesOut?: boolean | undefined
}

function jsonFormat({ names, logger, headers, leavesOut = false, ...format }: JsonFormat): AccessFormat {
  const paths = new Map(Object.entries(names).map(([name, written]) => [name, written.split(' ').map(flatKey)]))
  const pathsTo = (name: keyof FieldNames) => paths.get(name) ?? []

  function requestIn(record: Members, isKept: boolean): Found | 'comment' | undefined {
    const flat = flatOf(record)
    const all = (name: keyof FieldNames) => pathsTo(name).flatMap((path) => flat.get(path) ?? [])
    const isNull = (name: keyof FieldNames) => pathsTo(name).some((path) => flat.get(path) === null)
    const text = (name: keyof FieldNames) =>
      all(name).find((value) => typeof value === 'string') ?? (isNull(name) ? null : undefined)
    const [ip, target] = [text('ip'), text('target')]
    // A line that names neither is about something else.
    if (ip === undefined || target === undefined) return undefined
    const by = flat.get('logger')
    if (logger !== undefined && typeof by === 'string' && !by.startsWith(logger)) return 'comment'
    const asked = requestLine(String(target ?? ''))
    const agent = sentText(text('userAgent'))
    const sent: unknown = headers?.reduce<unknown>((within, name) => memberOf(membersOf(within), name), record)
    return {
      // Addresses of X-Forwarded-For, as far as Traefik trusts it: the last is the one that its peer saw.
      ip: leavesOut && typeof ip === 'string' ? ip.split(',').at(-1) : ip,
      method: asked?.method ?? text('method'),
      target: asked?.target ?? target,
      userAgent: agent === 'REDACTED' ? unsent(isKept) : (agent ?? unsent(isKept || sent !== undefined)),
      at: all('at'),
      status: all('status')[0],
    }
  }

  return {
    ...format,
    open(first) {
      const agents = first.map((line) => agentIn(recordIn(line)))
      const isKept = leavesOut && agents.some((agent) => agent !== undefined && agent !== 'REDACTED')
      return (_, record) => {
        const found = record && requestIn(record, isKept)
        return found === undefined || found === 'comment' ? found : readingOf(found)
      }
    },
  }

  function agentIn(record: Members | undefined): Plain | undefined {
    if (record === undefined || !leavesOut) return undefined
    const flat = flatOf(record)
    return pathsTo('userAgent')
      .map((path) => flat.get(path))
      .find((value) => typeof value === 'string')
  }
}

function unsent(isKept: boolean): string | undefined {
  return isKept ? '' : undefined
}

/** A text of Node's, where each letter is a byte that came, from the UTF-8 in which it was written. */
function inLetters(text: string): string {
  return Buffer.from(text, 'latin1').toString()
}
