import type { InspectionRequest } from '@sallyport/core'
import { pathFault } from '@sallyport/core/host'
import { type HeadFields, isHttp2 } from './head-fields.ts'

/** The head of a request, as received; its version is empty for a request without a connection. */
export type RequestHead = Pick<InspectionRequest, 'httpVersion' | 'target' | 'fields'>

/** `strict` refuses a path that servers read in several ways. */
export type Paths = 'strict' | 'pass'

/** Says why a request is refused for its head alone. */
export interface HeadFault {
  readonly status: number
  readonly reason: string
}

/** Refuses a target that is no path of this server. */
export const NO_PATH: HeadFault = { status: 400, reason: 'The target is neither a path nor the URL of one.' }

/** Refuses a target in absolute form that names a site other than Host. */
export const OTHER_SITE: HeadFault = { status: 400, reason: 'The target and Host differ.' }

/** Refuses a request that names no site. */
export const NO_HOST: HeadFault = { status: 400, reason: 'Host is missing.' }

const PROTECTED = new Set([
  'host',
  'authorization',
  'cookie',
  'content-length',
  'content-type',
  'transfer-encoding',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-real-ip',
])

/**
 * Returns the fault of a head that two servers could read differently although Node's parser accepts it: the server in front may have
 * judged another request than the server behind. These rules hold in every host. `fields` is the result of `readHead`.
 */
export function headFault(head: RequestHead, fields: HeadFields, paths: Paths): HeadFault | undefined {
  return (
    checkVersion(head) ??
    (fields.twice === undefined ? undefined : fail(`${fields.twice} may be sent once only.`)) ??
    checkHost(head, fields) ??
    checkTarget(head, fields, paths) ??
    checkFraming(head, fields) ??
    checkConnection(fields.connection)
  )
}

function fail(reason: string): HeadFault {
  return { status: 400, reason }
}

function checkVersion({ httpVersion, fields }: RequestHead): HeadFault | undefined {
  // Node also passes on HTTP/0.9 and 2.0 where the first line of an HTTP/1 request names them.
  if (httpVersion === '1.1' || httpVersion === '1.0' || !httpVersion || isHttp2(fields)) return undefined
  return { status: 505, reason: 'Only HTTP/1.x is supported.' }
}

function checkHost({ fields }: RequestHead, { host, authority = host }: HeadFields): HeadFault | undefined {
  // Both are compared as sites of the requested scheme (RFC 9113 8.3.1).
  const isOther = host !== authority && host !== undefined && authority !== undefined
  if (isOther && !namesSite(host, { scheme: readScheme(fields), site: authority }))
    return fail('Host and :authority differ.')
  // A client that knows no name sends an empty Host (RFC 9112 3.2).
  return !authority || isSite(authority) ? undefined : fail('Host is not a name or an address.')
}

function readScheme(fields: readonly string[]): 'http' | 'https' {
  const at = fields.findIndex((name, at) => at % 2 === 0 && name === ':scheme')
  return fields[at + 1] === 'http' ? 'http' : 'https'
}

/** Refuses a request that names no site; only HTTP/1.0 permits that (RFC 9112 3.2). */
export function checkHostNamed(
  { httpVersion }: RequestHead,
  { authority, host = authority }: HeadFields,
): HeadFault | undefined {
  return host === '' || (host === undefined && httpVersion !== '1.0') ? NO_HOST : undefined
}

/** Checks a target. A target in absolute form counts as its path, and must name the site of Host. */
function checkTarget({ target, fields }: RequestHead, { host }: HeadFields, paths: Paths): HeadFault | undefined {
  const fault = paths === 'strict' ? pathFault(target) : undefined
  if (fault !== undefined) return fail(`The path holds ${fault}.`)
  if (target.charCodeAt(0) === SLASH || target === '*' || target === '') return undefined
  // HTTP/2 has no absolute form (RFC 9113 8.3.1).
  const named = isHttp2(fields) ? undefined : absoluteTarget(target)
  if (named === undefined) return NO_PATH
  return !host || namesSite(host, named) ? undefined : OTHER_SITE
}

const SLASH = 47

function checkFraming({ httpVersion }: RequestHead, fields: HeadFields): HeadFault | undefined {
  const { transferEncoding: coding, contentLength: length } = fields
  if (coding !== undefined) {
    if (httpVersion === '1.0') return fail('Transfer-Encoding is not allowed in HTTP/1.0.')
    if (coding.toLowerCase() !== 'chunked')
      return { status: 501, reason: 'Transfer-Encoding: only chunked is supported.' }
    if (length !== undefined) return fail('Transfer-Encoding and Content-Length must not come together.')
  }
  return length === undefined || /^\d{1,15}$/.test(length) ? undefined : fail('Content-Length is not a number.')
}

/** Lists the names in Connection fields, in lower case: the named fields are hop-by-hop too. */
export function nominated(connection: string): readonly string[] {
  return connection.split(',').map((name) => name.trim().toLowerCase())
}

function checkConnection(connection: string | undefined): HeadFault | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined
  const name = nominated(connection).find(
    (name) => PROTECTED.has(name) || /^(?:sallyport|sec[^a-z0-9]websocket)[^a-z0-9]/.test(name),
  )
  return name === undefined ? undefined : fail(`Connection must not name ${name}.`)
}

/** A parsed request target in absolute form (RFC 9112 3.2.2): `http://site.example/a?b`. */
export interface AbsoluteTarget {
  readonly scheme: 'http' | 'https'
  /** The site that the target names, written as in Host. */
  readonly site: string
  /** The rest, written as in other targets; empty where the target names the whole site. */
  readonly rest: string
}

const ABSOLUTE = /^http(s?):\/\/([^/?#]*)((?:[/?#].*)?)$/i
/** Matches a site. An empty port means the port of the scheme (RFC 3986 3.2.3). */
const SITE = /^(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d{0,5})?$/

/** Reports whether a text is a name or an address, with or without a port. */
export function isSite(text: string): boolean {
  return SITE.test(text)
}

/** Reads a target in absolute form; `undefined` for any other form, and for a target that names no site. */
export function absoluteTarget(target: string): AbsoluteTarget | undefined {
  const [, secure, site = '', rest = ''] = ABSOLUTE.exec(target) ?? []
  return isSite(site) ? { scheme: secure === '' ? 'http' : 'https', site, rest } : undefined
}

/** Reports whether Host names a site. It ignores case, the default port of the scheme, and the trailing dot of a full name. */
export function namesSite(host: string, { scheme, site }: Pick<AbsoluteTarget, 'scheme' | 'site'>): boolean {
  const port = scheme === 'https' ? /:(?:443)?$/ : /:(?:80)?$/
  const normalise = (text: string): string =>
    text
      .toLowerCase()
      .replace(port, '')
      .replace(/\.(?=$|:)/, '')
  return normalise(host) === normalise(site)
}

/** Has the fields by which a client requests another protocol. */
type AskingFields = Partial<Pick<HeadFields, 'upgrade' | 'connection'>>

/** Reports whether a request asks for a WebSocket and for nothing else. HTTP/1.0 has no upgrades (RFC 9110 7.8). */
export function asksForWebSocket(httpVersion: string, { upgrade, connection = '' }: AskingFields): boolean {
  if (upgrade?.trim().toLowerCase() !== 'websocket' || httpVersion === '1.0') return false
  return nominated(connection).includes('upgrade')
}
