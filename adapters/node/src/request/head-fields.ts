import { SOLUTION_FIELD } from '@sallyport/core/host'

/** Values of the fields that say how to read a request and which site it is for, including those of HTTP/2. */
export type HeadFields = ReturnType<typeof makeFields>

type Text = string | undefined

/** Creates the fields of an empty head in one literal, so that all heads share one hidden class. */
function makeFields() {
  return {
    authority: undefined as Text,
    host: undefined as Text,
    contentLength: undefined as Text,
    contentType: undefined as Text,
    authorization: undefined as Text,
    userAgent: undefined as Text,
    referer: undefined as Text,
    cookie: undefined as Text,
    expect: undefined as Text,
    /** Repeated fields of these names form one list (RFC 9110 5.3); of any other name the first field counts. */
    connection: undefined as Text,
    transferEncoding: undefined as Text,
    upgrade: undefined as Text,
    webSocketVersion: undefined as Text,
    webSocketKey: undefined as Text,
    via: undefined as Text,
    /** Whether the client asks if its copy is still good. */
    isConditional: false,
    /** Whether the browser fetches ahead of a visit. */
    isAhead: false,
    /** Whether a proxy names the scheme of the client. */
    namesScheme: false,
    /** Carries the solution of a challenge. */
    solution: undefined as Text,
    /** Names the first field that came twice and must not: one server may read the first value, the next server the last. */
    twice: undefined as Text,
  }
}

/**
 * Reads `fields` (name, value, name, value …) once, for every question about a head. `single` is one more name that must not come twice.
 * The code branches by length, because it runs for each field of each request, and a variable member name is several times as slow.
 */
export function readHead(fields: readonly string[], single?: string): HeadFields {
  const head = makeFields()
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
        if (name === 'via') head.via = append(head.via, value)
        break
      case 4:
        if (name === 'host') head.host = keep(head, 'host', head.host, value)
        break
      case 6:
        if (name === 'expect') head.expect = keep(head, 'expect', head.expect, value)
        else if (name === 'cookie') head.cookie = head.cookie === undefined ? value : `${head.cookie};${value}`
        break
      case 7:
        if (name === 'upgrade') head.upgrade = append(head.upgrade, value)
        else if (name === 'referer') head.referer ??= value
        else if (name === 'purpose') head.isAhead = true
        break
      case 9:
        if (name === 'forwarded') head.namesScheme = true
        break
      case 10:
        if (name === 'user-agent') head.userAgent = keep(head, 'user-agent', head.userAgent, value)
        else if (name === 'connection') head.connection = append(head.connection, value)
        else if (name === ':authority') head.authority = append(head.authority, value)
        break
      case 11:
        if (name === 'sec-purpose') head.isAhead = true
        break
      case 12:
        if (name === 'content-type') head.contentType = keep(head, 'content-type', head.contentType, value)
        break
      case 13:
        if (name === 'if-none-match') head.isConditional = true
        else if (name === 'authorization') head.authorization = keep(head, 'authorization', head.authorization, value)
        break
      case 14:
        if (name === 'content-length') head.contentLength = keep(head, 'content-length', head.contentLength, value)
        break
      case 17:
        if (name === 'transfer-encoding') head.transferEncoding = append(head.transferEncoding, value)
        else if (name === 'if-modified-since') head.isConditional = true
        else if (name === 'x-forwarded-proto') head.namesScheme = true
        else if (name === 'sec-websocket-key') head.webSocketKey = append(head.webSocketKey, value)
        break
      case 18:
        if (name === SOLUTION_FIELD) head.solution ??= value
        break
      case 21:
        if (name === 'sec-websocket-version') head.webSocketVersion = append(head.webSocketVersion, value)
    }
  }
  return head
}

/** Marks the lengths of the names that are read: a field of any other length is skipped. */
const READ: readonly boolean[] = Array.from({ length: 22 }, (_, length) =>
  [3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 17, 18, 21].includes(length),
)

/** Returns the first value of a name that must not come twice. */
function keep(head: HeadFields, name: string, known: string | undefined, value: string): string {
  if (known === undefined) return value
  head.twice ??= name
  return known
}

function append(known: string | undefined, value: string): string {
  return known === undefined ? value : `${known}, ${value}`
}

/** Returns the site that a request names: Host, else the `:authority` of HTTP/2. */
export function readSite({ host, authority }: HeadFields): string | undefined {
  return host ?? authority
}

/** Reports whether a request came by HTTP/2: no HTTP/1 parser accepts a name that begins with a colon. */
export function isHttp2(fields: readonly string[]): boolean {
  return fields[0]?.charCodeAt(0) === COLON
}

const COLON = 58
