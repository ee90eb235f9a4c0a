import { pathFault } from '@sallyport/core'

/** The head of a request as received. */
export interface RequestHead {
  /** `1.0`, `1.1`, … as in `IncomingMessage.httpVersion`. */
  readonly httpVersion: string
  readonly method: string
  readonly target: string
  /** `rawHeaders`: name, value, name, value … */
  readonly fields: readonly string[]
  /** Whether it is for the API, which itself refuses two Authorization fields. */
  readonly api?: boolean
  /** `pass`: a path that servers read in several ways is left to the origin. Absent: `strict`, it is refused. */
  readonly paths?: 'strict' | 'pass' | undefined
  /** Methods that are served; absent: `METHODS`. */
  readonly methods?: readonly string[] | undefined
}

/** Methods that reach the origin unless the configuration adds some. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Why a request's head is refused; the connection is closed after the answer. */
export interface HeadRefusal {
  readonly status: 400 | 405 | 414 | 417 | 426 | 431 | 501 | 505
  readonly reason: string
}

type Values = ReadonlyMap<string, readonly string[]>

const MAX_FIELDS = 100
const MAX_TARGET = 8192
const SINGLETONS = ['host', 'content-length', 'authorization', 'content-type', 'user-agent', 'expect', 'upgrade']
const PROTECTED = new Set([
  ...['host', 'authorization', 'cookie', 'content-length', 'content-type', 'transfer-encoding', 'forwarded'],
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip'],
])
const HOST = /^(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/
// RFC 3986 and the few bytes beyond it that browsers send as they are: `[]^|` in a path; in a query also `\`, a brace,
// a backquote and a percent sign that starts no escape.
const PATH = /^\/(?!\/)[\w.~!$&'()*+,;=:@/[\]^|%-]*$/
/** Where a path is left to the origin: all that is printable and ends no path. */
const ANY_PATH = /^\/(?!\/)[!"$-~]*$/
const QUERY = /^[!$-;=?-~]*$/
const WEBSOCKET_KEY = /^[A-Za-z0-9+/]{22}==$/

/**
 * The checks before the verdict, which fail closed: a head that two servers could read in two ways is refused, although
 * Node's parser accepts it. `undefined` when the head passes all of them.
 */
export function precheck(head: RequestHead): HeadRefusal | undefined {
  const { httpVersion, method, target, fields, api = false, paths = 'strict', methods = METHODS } = head
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return { status: 505, reason: 'Only HTTP/1.0 and HTTP/1.1.' }
  if (fields.length / 2 > MAX_FIELDS) return { status: 431, reason: `More than ${MAX_FIELDS} header fields.` }
  // Of its own paths the API says which methods there are; neither of these two has a request and an answer as others do.
  const served = api ? method !== 'CONNECT' && method !== 'TRACE' : methods.includes(method)
  if (!served) return { status: 405, reason: `${method} is not served.` }
  const values = valuesByName(fields)
  return (
    checkTarget(method, target, paths) ??
    checkOnce(values, api) ??
    checkHost(values, httpVersion) ??
    checkFraming(values, httpVersion) ??
    checkConnection(values) ??
    checkExpect(values) ??
    checkUpgrade(values, method)
  )
}

function valuesByName(fields: readonly string[]): Values {
  const values = new Map<string, string[]>()
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase()
    const value = fields[i + 1] as string
    const known = values.get(name)
    if (known) known.push(value)
    else values.set(name, [value])
  }
  return values
}

function bad(reason: string): HeadRefusal {
  return { status: 400, reason }
}

function checkTarget(method: string, target: string, paths: 'strict' | 'pass'): HeadRefusal | undefined {
  if (target.length > MAX_TARGET) return { status: 414, reason: `A target over ${MAX_TARGET} bytes.` }
  if (target === '*' && method === 'OPTIONS') return undefined
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const fault = paths === 'strict' ? pathFault(path) : undefined
  if (fault !== undefined) return bad(`The path holds ${fault}.`)
  if (!(paths === 'strict' ? PATH : ANY_PATH).test(path))
    return bad('The target is not a path that starts with one slash.')
  if (mark >= 0 && !QUERY.test(target.slice(mark + 1))) return bad('The query has bytes that must be escaped.')
  return undefined
}

function checkOnce(values: Values, api: boolean): HeadRefusal | undefined {
  const twice = SINGLETONS.find((name) => (values.get(name)?.length ?? 0) > 1 && !(api && name === 'authorization'))
  return twice === undefined ? undefined : bad(`${twice} may be sent once only.`)
}

function checkHost(values: Values, httpVersion: string): HeadRefusal | undefined {
  const host = values.get('host')?.[0]
  if (host === undefined) return httpVersion === '1.0' ? undefined : bad('Host is missing.')
  return HOST.test(host) ? undefined : bad('Host is not a name or an address.')
}

function checkFraming(values: Values, httpVersion: string): HeadRefusal | undefined {
  const coding = values.get('transfer-encoding')
  const length = values.get('content-length')?.[0]
  if (coding) {
    if (httpVersion === '1.0') return bad('Transfer-Encoding in HTTP/1.0.')
    if (coding.length > 1 || coding[0]?.toLowerCase() !== 'chunked') {
      return { status: 501, reason: 'The only transfer coding served is chunked.' }
    }
    if (length !== undefined) return bad('Transfer-Encoding and Content-Length together.')
  }
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return bad('Content-Length is not a number.')
  if (values.has('trailer') && !coding) return bad('Trailer without a chunked body.')
  return undefined
}

/** The names in Connection fields, in lower case: those fields are hop-by-hop too. */
export function nominated(connection: readonly string[]): readonly string[] {
  return connection.flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase()))
}

function checkConnection(values: Values): HeadRefusal | undefined {
  const names = nominated(values.get('connection') ?? [])
  const name = names.find((name) => PROTECTED.has(name) || /^(?:sallyport|sec[^a-z0-9]websocket)[^a-z0-9]/.test(name))
  return name === undefined ? undefined : bad(`Connection may not name ${name}.`)
}

function checkExpect(values: Values): HeadRefusal | undefined {
  const expect = values.get('expect')?.[0]
  if (expect === undefined || expect.toLowerCase() === '100-continue') return undefined
  return { status: 417, reason: 'The only expectation met is 100-continue.' }
}

function checkUpgrade(values: Values, method: string): HeadRefusal | undefined {
  const upgrade = values.get('upgrade')?.[0]
  if (upgrade === undefined) return undefined
  // A body would be left on the connection, where the first bytes of the tunnel are expected.
  const length = values.get('content-length')?.[0]
  if ((length !== undefined && Number(length) > 0) || values.has('transfer-encoding'))
    return bad('An upgrade has no body.')
  if (upgrade.toLowerCase() !== 'websocket') return bad('The only upgrade served is to websocket.')
  if (method !== 'GET') return bad('An upgrade is asked for with GET.')
  const version = values.get('sec-websocket-version')
  if (version?.length !== 1 || version[0] !== '13') return { status: 426, reason: 'WebSocket version 13 is served.' }
  const key = values.get('sec-websocket-key')
  return key?.length === 1 && WEBSOCKET_KEY.test(key[0] as string) ? undefined : bad('Sec-WebSocket-Key is not valid.')
}
