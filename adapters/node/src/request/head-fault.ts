import { pathFault } from '@sallyport/core/host'
import { absoluteTarget, namesSite, SITE } from './absolute-target.ts'
import { type HeadFields, isHttp2 } from './head-fields.ts'

/** The head of a request as received. */
export interface RequestHead {
  /** `1.0`, `1.1`, … as in `IncomingMessage.httpVersion`; empty for a request that came by no connection. */
  readonly httpVersion: string
  readonly target: string
  /** `rawHeaders`: name, value, name, value … */
  readonly fields: readonly string[]
}

/** `strict`: a path that servers read in several ways is a fault. */
export type Paths = 'strict' | 'pass'

/** Why a request is refused for its head alone. */
export interface HeadFault {
  readonly status: number
  readonly reason: string
}

/** The fault of a target that is no path of this server. */
export const NO_PATH: HeadFault = { status: 400, reason: 'The target is neither a path nor the URL of one.' }

/** The fault of a target in absolute form that names another site than Host. */
export const OTHER_SITE: HeadFault = { status: 400, reason: 'The target and Host differ.' }

/** The fault of a request that names no site. */
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
 * Heads that two servers could read differently although Node's parser accepts it: then the one in front may have
 * judged another request than the one that runs. These hold in every host; what a host serves at all is its own affair.
 * `fields` is what `readHead` says of the head's.
 */
export function headFault(head: RequestHead, fields: HeadFields, paths: Paths): HeadFault | undefined {
  return (
    checkVersion(head) ??
    (fields.twice === undefined ? undefined : bad(`${fields.twice} may be sent once only.`)) ??
    checkHost(head, fields) ??
    checkTarget(head, fields, paths) ??
    checkFraming(head, fields) ??
    checkConnection(fields.connection)
  )
}

function bad(reason: string): HeadFault {
  return { status: 400, reason }
}

function checkVersion({ httpVersion, fields }: RequestHead): HeadFault | undefined {
  // Node hands HTTP/0.9 and 2.0 on as well where they are written in the first line of an HTTP/1 request.
  if (httpVersion === '1.1' || httpVersion === '1.0' || !httpVersion || isHttp2(fields)) return undefined
  return { status: 505, reason: 'Only HTTP/1.x is supported.' }
}

function checkHost({ fields }: RequestHead, { host, authority = host }: HeadFields): HeadFault | undefined {
  // Both are compared as sites of the scheme that is asked for (RFC 9113 8.3.1).
  const isOther = host !== authority && host !== undefined && authority !== undefined
  if (isOther && !namesSite(host, { scheme: schemeOf(fields), site: authority }))
    return bad('Host and :authority differ.')
  // A client without a name to ask for sends an empty one (RFC 9112 3.2).
  return !authority || SITE.test(authority) ? undefined : bad('Host is not a name or an address.')
}

function schemeOf(fields: readonly string[]): 'http' | 'https' {
  const at = fields.findIndex((name, at) => at % 2 === 0 && name === ':scheme')
  return fields[at + 1] === 'http' ? 'http' : 'https'
}

/** The fault of a request that names no site, which HTTP/1.0 alone need not (RFC 9112 3.2). */
export function checkHostNamed(
  { httpVersion }: RequestHead,
  { authority, host = authority }: HeadFields,
): HeadFault | undefined {
  return host === '' || (host === undefined && httpVersion !== '1.0') ? NO_HOST : undefined
}

/** A target in absolute form is read as the path that it names, of the site that Host names too. */
function checkTarget({ target, fields }: RequestHead, { host }: HeadFields, paths: Paths): HeadFault | undefined {
  const fault = paths === 'strict' ? pathFault(target) : undefined
  if (fault !== undefined) return bad(`The path holds ${fault}.`)
  if (target.charCodeAt(0) === SLASH || target === '*' || target === '') return undefined
  // HTTP/2 has no such form (RFC 9113 8.3.1).
  const named = isHttp2(fields) ? undefined : absoluteTarget(target)
  if (named === undefined) return NO_PATH
  return !host || namesSite(host, named) ? undefined : OTHER_SITE
}

const SLASH = 47

function checkFraming({ httpVersion }: RequestHead, fields: HeadFields): HeadFault | undefined {
  const { transferEncoding: coding, contentLength: length } = fields
  if (coding !== undefined) {
    if (httpVersion === '1.0') return bad('Transfer-Encoding is not allowed in HTTP/1.0.')
    if (coding.toLowerCase() !== 'chunked')
      return { status: 501, reason: 'Transfer-Encoding: only chunked is supported.' }
    if (length !== undefined) return bad('Transfer-Encoding and Content-Length must not come together.')
  }
  return length === undefined || /^\d{1,15}$/.test(length) ? undefined : bad('Content-Length is not a number.')
}

/** The names in Connection fields, in lower case: those fields are hop-by-hop too. */
export function nominated(connection: string): readonly string[] {
  return connection.split(',').map((name) => name.trim().toLowerCase())
}

function checkConnection(connection: string | undefined): HeadFault | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined
  const name = nominated(connection).find(
    (name) => PROTECTED.has(name) || /^(?:sallyport|sec[^a-z0-9]websocket)[^a-z0-9]/.test(name),
  )
  return name === undefined ? undefined : bad(`Connection must not name ${name}.`)
}
