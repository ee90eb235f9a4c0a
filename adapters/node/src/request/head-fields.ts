import { SOLUTION_FIELD } from '@sallyport/core/host'

/** The values of the fields that say how a request is read, and where it belongs; those of HTTP/2 among them. */
export interface HeadFields {
  authority: string | undefined
  host: string | undefined
  contentLength: string | undefined
  contentType: string | undefined
  authorization: string | undefined
  userAgent: string | undefined
  referer: string | undefined
  expect: string | undefined
  /** Several of these are one list (RFC 9110 5.3); of any other the first counts. */
  connection: string | undefined
  transferEncoding: string | undefined
  upgrade: string | undefined
  webSocketVersion: string | undefined
  webSocketKey: string | undefined
  via: string | undefined
  /** Whether a proxy names the scheme of the client. */
  namesScheme: boolean
  /** The solution of a challenge. */
  solution: string | undefined
  /**
   * The first name that came twice and must not: a server may read such a field differently from the next, of which one
   * takes the first, one the last.
   */
  twice: string | undefined
}

/** The fields of a head that has none; in one literal, so that all have one hidden class. */
function noFields(): HeadFields {
  return {
    authority: undefined,
    host: undefined,
    contentLength: undefined,
    contentType: undefined,
    authorization: undefined,
    userAgent: undefined,
    referer: undefined,
    expect: undefined,
    connection: undefined,
    transferEncoding: undefined,
    upgrade: undefined,
    webSocketVersion: undefined,
    webSocketKey: undefined,
    via: undefined,
    namesScheme: false,
    solution: undefined,
    twice: undefined,
  }
}

/**
 * Reads `fields` (name, value, name, value …) once, for all that is asked of a head. `single` is one more name that must not
 * come twice. Written out by length, because this runs for each field of each request, and a member whose name is a variable
 * is several times as slow.
 */
export function readHead(fields: readonly string[], single?: string): HeadFields {
  const head = noFields()
  let singles = 0
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const field = fields[at] as string
    const { length } = field
    if (!READ[length] && length !== single?.length) continue
    const name = field.toLowerCase()
    const value = fields[at + 1] as string
    if (name === single && ++singles === 2) head.twice ??= single
    switch (length) {
      case 3:
        if (name === 'via') head.via = listed(head.via, value)
        break
      case 4:
        if (name === 'host') head.host = first(head, 'host', head.host, value)
        break
      case 6:
        if (name === 'expect') head.expect = first(head, 'expect', head.expect, value)
        break
      case 7:
        if (name === 'upgrade') head.upgrade = listed(head.upgrade, value)
        else if (name === 'referer') head.referer ??= value
        break
      case 9:
        if (name === 'forwarded') head.namesScheme = true
        break
      case 10:
        if (name === 'user-agent') head.userAgent = first(head, 'user-agent', head.userAgent, value)
        else if (name === 'connection') head.connection = listed(head.connection, value)
        else if (name === ':authority') head.authority = listed(head.authority, value)
        break
      case 12:
        if (name === 'content-type') head.contentType = first(head, 'content-type', head.contentType, value)
        break
      case 13:
        if (name === 'authorization') head.authorization = first(head, 'authorization', head.authorization, value)
        break
      case 14:
        if (name === 'content-length') head.contentLength = first(head, 'content-length', head.contentLength, value)
        break
      case 17:
        if (name === 'transfer-encoding') head.transferEncoding = listed(head.transferEncoding, value)
        else if (name === 'x-forwarded-proto') head.namesScheme = true
        else if (name === 'sec-websocket-key') head.webSocketKey = listed(head.webSocketKey, value)
        break
      case 18:
        if (name === SOLUTION_FIELD) head.solution ??= value
        break
      case 21:
        if (name === 'sec-websocket-version') head.webSocketVersion = listed(head.webSocketVersion, value)
    }
  }
  return head
}

/** Lengths of the names that are read: a field of any other length is passed over. */
const READ: readonly boolean[] = Array.from({ length: 22 }, (_, length) =>
  [3, 4, 6, 7, 9, 10, 12, 13, 14, 17, 18, 21].includes(length),
)

/** The first value of a name that must not come twice. */
function first(head: HeadFields, name: string, known: string | undefined, value: string): string {
  if (known === undefined) return value
  head.twice ??= name
  return known
}

function listed(known: string | undefined, value: string): string {
  return known === undefined ? value : `${known}, ${value}`
}

/** The site that a request names: Host, else the `:authority` of HTTP/2. */
export function siteOf({ host, authority }: HeadFields): string | undefined {
  return host ?? authority
}

/** Whether a request came by HTTP/2: no parser of HTTP/1 takes a name that begins with a colon. */
export function isHttp2(fields: readonly string[]): boolean {
  return fields[0]?.charCodeAt(0) === COLON
}

const COLON = 58
