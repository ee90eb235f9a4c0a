import { type ClientTrust, SallyportError } from '@sallyport/core'
import { flatten, type Members, parseRecord } from '../members.ts'
import { type AccessFormat, type Found, parseReading, parseRequestLine, type Reading } from './reading.ts'

/** Names the members of a request; the first name that a line has counts. A dot separates nested members, a `+` joins two members. */
type Names = Readonly<Record<'ip' | 'method' | 'target' | 'userAgent' | 'at' | 'status', string>>

interface Row extends Names {
  readonly headers?: string | undefined
  /** Begins the name of the logger that writes at the end of a request: other loggers write about requests too. */
  readonly logger?: string | undefined
  /** Whether the address may be a list, whose last entry is the server's own peer. */
  readonly isForwarded?: boolean | undefined
  readonly isEncoded?: boolean | undefined
}

const USUAL: Names = {
  ip: 'remote_addr client_ip remote_ip ip',
  method: 'request_method method verb',
  target: 'request_uri request uri url path',
  userAgent: 'http_user_agent user_agent agent',
  at: 'msec time_iso8601 time_local time timestamp @timestamp ts',
  status: 'status status_code response',
}

const CADDY: Row = {
  ip: 'request.client_ip request.remote_ip request.remote_addr',
  method: 'request.method',
  target: 'request.uri',
  userAgent: 'request.headers.User-Agent',
  at: 'ts',
  status: 'status',
  headers: 'request.headers',
  logger: 'http.log.access',
}

const TRAEFIK: Row = {
  ip: 'ClientHost',
  method: 'RequestMethod',
  target: 'RequestPath',
  userAgent: 'request_User-Agent',
  at: 'StartUTC StartLocal time',
  status: 'DownstreamStatus',
  isForwarded: true,
}

/** CloudFront and IIS write these names as columns too. */
const W3C: Row = {
  ip: 'c-ip',
  method: 'cs-method',
  target: 'cs-uri-stem+cs-uri-query cs-uri-stem',
  userAgent: 'cs(User-Agent)',
  at: 'date+time timestamp',
  status: 'sc-status',
  isEncoded: true,
}

/** Names the member with the header in which proxies name the client, `*`. */
const FORWARDED = 'request.headers.* request_* http_* cs(*) *'

export const JSON_FORMAT: AccessFormat = formatJson('json', [CADDY, TRAEFIK, W3C, USUAL])

export const readColumns: (record: Members, trust: ClientTrust) => Reading | 'comment' | undefined = createReader([W3C])

/** Parses names of other JSON, beside the usual names: `ip=client.ip,target=url`. Throws `invalid_request` for an unknown name. */
export function parseFields(text: string): AccessFormat {
  const given = text.split(',').map((part) => part.split('=', 2).map((word) => word.trim()))
  for (const [name = '', member = ''] of given) {
    if (!Object.hasOwn(USUAL, name) || member === '')
      throw new SallyportError(
        'invalid_request',
        `--fields: "${name}" is not one of ${Object.keys(USUAL).join(', ')} with =NAME`,
      )
  }
  return formatJson('fields', [{ ...USUAL, ...(Object.fromEntries(given) as Partial<Names>) }])
}

function formatJson(name: string, rows: readonly Row[]): AccessFormat {
  const read = createReader(rows)
  return {
    name,
    open: (_first, _isNamed, trust) => (line) => {
      const record = parseRecord(line)
      return record && read(record, trust)
    },
  }
}

/** Creates a reader that uses the first row whose address and target a line has. */
function createReader(rows: readonly Row[]) {
  return (record: Members, trust: ClientTrust): Reading | 'comment' | undefined => {
    const members = flatten(record)
    for (const row of rows) {
      const { ip, target, ...rest } = findMembers(members, row)
      if (ip === undefined || target === undefined) continue
      const logger = members('logger')
      if (row.logger !== undefined && typeof logger === 'string' && !logger.startsWith(row.logger)) return 'comment'
      const header = findFirst(members, FORWARDED.replaceAll('*', trust.header))
      const forwarded = row.isEncoded && typeof header === 'string' ? decodeAgent(header) : header
      return parseReading({ ip, forwarded, target, ...rest, ...parseRequestLine(String(target ?? '')) }, trust)
    }
    return undefined
  }
}

function findMembers(members: (name: string) => unknown, { headers, isEncoded, isForwarded, ...row }: Row): Found {
  const find = (names: string): unknown => findFirst(members, names)
  const [ip, agent] = [find(row.ip), find(row.userAgent)]
  const wasSent = headers !== undefined && members(headers) !== undefined
  const userAgent = agent === null || (agent === undefined && wasSent) ? '' : agent
  return {
    ip: isForwarded && typeof ip === 'string' ? ip.split(',').at(-1) : ip,
    method: find(row.method),
    target: find(row.target),
    at: find(row.at),
    status: find(row.status),
    userAgent: isEncoded && typeof userAgent === 'string' ? decodeAgent(userAgent) : userAgent,
  }
}

function findFirst(members: (name: string) => unknown, names: string): unknown {
  const found = names.split(' ').map((name) => joinParts(name.split('+').map(members)))
  return found.find((value) => (value ?? null) !== null) ?? found.find((value) => value === null)
}

/** Joins a day and its time, or a path and its query; `-` is an absent query. */
function joinParts([one, other, ...rest]: readonly unknown[]): unknown {
  if (rest.length > 0 || other === undefined) return one
  if (one === undefined || other === null || other === '-' || other === '') return undefined
  return String(one).startsWith('/') ? `${one}?${other}` : `${one} ${other}`
}

/** Decodes a user agent: IIS writes `+` for a space, CloudFront `%20`, at times encoded twice. */
function decodeAgent(text: string): string {
  if (!/%(?:25)?20/.test(text)) return text.replace(/\+(?!https?:)/g, ' ')
  const decode = (encoded: string) =>
    encoded.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  const once = decode(text)
  return once.includes('%20') ? decode(once) : once
}
