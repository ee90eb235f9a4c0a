import {
  asksForWebSocket,
  checkHostNamed,
  type HeadFault,
  type HeadFields,
  headFault,
  NO_PATH,
  type Paths,
  type RequestHead as ReceivedHead,
  readHead,
} from '@sallyport/node/internal'

/** The head of a request, as received. */
export interface RequestHead extends ReceivedHead {
  readonly method: string
  /** Whether the request is for the API, which itself reports unreadable paths and unknown methods. */
  readonly api?: boolean | undefined
  /** Absent: `strict`. */
  readonly paths?: Paths | undefined
  /** Methods that are served; absent: `METHODS`. */
  readonly methods?: readonly string[] | undefined
  /** Whether another server forwards the request, and serves more methods. */
  readonly isElsewhere?: boolean | undefined
  /** Names a header that may be sent only once, beside those that every host checks (`Decider.singleHeader`). */
  readonly singleHeader?: string | undefined
}

/** Methods that reach the origin unless the configuration adds some. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Matches methods that an asking server may serve (WebDAV, CalDAV), but none that repeats a request or opens a tunnel. */
const ELSEWHERE = /^(?!(?:CONNECT|TRACE|TRACK)$)[A-Z][A-Z-]{1,31}$/

const MAX_FIELDS = 100
/** nginx, HAProxy and Apache have the same limit: origins behind the proxy take no longer targets. */
export const MAX_TARGET = 8192
/** Refuses an address that few servers would take. */
export const LONG_TARGET: HeadFault = { status: 414, reason: `The address is longer than ${MAX_TARGET} bytes.` }
// RFC 3986 and the few bytes beyond it that browsers send as they are: `[]^|` in a path; in a query also `\`, a brace,
// a backquote and a percent sign that starts no escape.
const PATH = /^\/[\w.~!$&'()*+,;=:@/[\]^|%-]*$/
/** Matches paths that are left to the origin: all printable characters that do not end a path. */
const ANY_PATH = /^\/[!"$-~]*$/
const QUERY = /^[!$-;=?-~]*$/
const WEBSOCKET_KEY = /^[A-Za-z0-9+/]{22}==$/

/**
 * Checks a head before the verdict, and fails closed: with the checks of every host (`headFault`), and with the proxy's own. `read` is the
 * result of `readHead`. `undefined` for a good head; after any other answer the connection is closed.
 */
export function precheck(
  head: RequestHead,
  read: HeadFields = readHead(head.fields, head.singleHeader),
): HeadFault | undefined {
  const { method, target, fields, api = false, methods = METHODS } = head
  const paths = api ? 'pass' : (head.paths ?? 'strict')
  if (fields.length / 2 > MAX_FIELDS)
    return { status: 431, reason: `The request has more than ${MAX_FIELDS} header fields.` }
  const isServed = api ? method !== 'CONNECT' : methods.includes(method)
  if (!isServed && !(head.isElsewhere && ELSEWHERE.test(method))) {
    const advice = head.isElsewhere ? '' : '; the option methods lists the allowed methods'
    return { status: 405, reason: `The method ${method} is not allowed${advice}.` }
  }
  if (!api && target.length > MAX_TARGET) return LONG_TARGET
  const serverWide = target === '*' && method === 'OPTIONS'
  return (
    headFault(head, read, paths) ??
    // This check comes before the target: an absolute target is read as a path where Host names the site too.
    checkHostNamed(head, read) ??
    (serverWide || (api && target.startsWith('/')) ? undefined : checkTarget(target, paths)) ??
    checkExpect(read) ??
    checkUpgrade(head, read)
  )
}

function bad(reason: string): HeadFault {
  return { status: 400, reason }
}

function checkTarget(target: string, paths: Paths): HeadFault | undefined {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  if (!path.startsWith('/')) return NO_PATH
  if (!(paths === 'strict' ? PATH : ANY_PATH).test(path)) return bad('The path has bytes that must be escaped.')
  return mark < 0 || QUERY.test(target.slice(mark + 1)) ? undefined : bad('The query has bytes that must be escaped.')
}

function checkExpect({ expect }: HeadFields): HeadFault | undefined {
  // An empty list expects nothing (RFC 9110 10.1.1).
  if (!expect || expect.toLowerCase() === '100-continue') return undefined
  return { status: 417, reason: 'Expect: only 100-continue is supported.' }
}

function checkUpgrade({ method, httpVersion }: RequestHead, fields: HeadFields): HeadFault | undefined {
  if (fields.upgrade === undefined || !asksForWebSocket(httpVersion, fields)) return undefined
  // A body would stay on the connection, where the tunnel expects its first bytes.
  if (Number(fields.contentLength ?? 0) > 0 || fields.transferEncoding !== undefined)
    return bad('An upgrade must not have a body.')
  if (method !== 'GET') return bad('An upgrade must use GET.')
  if (fields.webSocketVersion !== '13') return { status: 426, reason: 'Sec-WebSocket-Version: only 13 is supported.' }
  const key = fields.webSocketKey
  return key !== undefined && WEBSOCKET_KEY.test(key) ? undefined : bad('Sec-WebSocket-Key is not valid.')
}
