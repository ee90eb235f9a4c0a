import { type ChallengeLevel, SallyportError } from '@sallyport/core'
import { ID_HEADER, isForCaches, isReserved, privateControl } from '@sallyport/node/internal'
import { createFieldTable, HOP_FIELDS, madeHopByHop, PLAIN_CONNECTIONS, withoutNamed } from './field-table.ts'

/** What is done with a field of an answer; `single` may stand once. */
type Action = 'keep' | 'single' | 'drop' | 'connection' | 'coding'

/** Fields that stand once in an answer: those that Node sends over HTTP/2 once only, and two more of RFC 9110. */
const SINGLE_FIELDS = [
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'server',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
]

/** A list, of which Node takes one field only: several are joined, which says the same (RFC 9110 5.3). */
const LIST = 'content-language'

const TABLE = createFieldTable<Action>(
  new Map<string, Action>([
    ...SINGLE_FIELDS.map((name): [string, Action] => [name, 'single']),
    ...[...HOP_FIELDS, 'http2-settings', 'x-request-id'].map((name): [string, Action] => [name, 'drop']),
    ['connection', 'connection'],
    ['transfer-encoding', 'coding'],
  ]),
  (action) => (action === 'single' ? 'keep' : action),
  (folded) => (isReserved(folded) ? 'drop' : 'keep'),
)

/** Characters that no field may hold: neither version of HTTP can carry them. */
const UNSENDABLE = /[^\t -~\x80-\xff]/

/** An answer, and for whom it is. */
export interface AnswerOf {
  readonly status: number
  readonly id: string
  /** Fields of ours for which the origin has none; names in lower case. */
  readonly told: Readonly<Record<string, string>>
  /** The response may be kept by the client's own cache alone. */
  readonly isPrivate?: boolean | undefined
  /** A field that may stand once came with two values. */
  onConflict(name: string): void
}

/**
 * The fields of an origin's answer for the client, name, value, name, value …: all but hop-by-hop fields, those that
 * its Connection field names, and our own, which are between us and the origin, each once that may stand once; then the
 * request's id, and what is `told`. A body in a transfer coding beside chunks, which nobody asked for (`TE` ends here), is
 * none that its client could read. A status that has no content has no length but 0 (RFC 9110 8.6, 15.3.6). Takes texts,
 * or raw bytes; a field value is Latin-1 (RFC 9110 5.5). Throws `bad_gateway` where a field has bytes that none may have.
 */
export function responseFields(raw: readonly string[] | readonly Buffer[], answer: AnswerOf): string[] {
  const { status, id, told, isPrivate, onConflict } = answer
  const fields = endToEnd(raw, { requiresNoCoding: true, onConflict })
  const sized = status === 204 || status === 205 ? withoutNamed(fields, ['content-length']) : fields
  const kept = isPrivate ? privateFields(sized) : sized
  if (status === 205) kept.push('Content-Length', '0')
  kept.push(ID_HEADER, id)
  for (const name in told) {
    const isTold = name === 'set-cookie' ? !isShared(kept) : !hasField(kept, name)
    if (isTold) kept.push(name, told[name] as string)
  }
  return kept
}

/** Fields by which no cache that others share keeps an answer, nor gives one with a pass to those who hold none. */
function privateFields(fields: readonly string[]): string[] {
  const isControl = (name: string) => name.toLowerCase() === 'cache-control'
  const controls = fields.filter((_, at) => at % 2 === 1 && isControl(fields[at - 1] as string))
  const kept = fields.filter((_, at) => {
    const name = fields[at - (at % 2)] as string
    return !isControl(name) && !isForCaches(name)
  })
  return [...kept, 'Cache-Control', privateControl(controls.join(','))]
}

/** Whether caches of many people may keep an answer, and with it a cookie. */
function isShared(fields: readonly string[]): boolean {
  return fields.some(
    (name, at) => at % 2 === 0 && /^cache-control$/i.test(name) && /public|s-maxage/i.test(fields[at + 1] ?? ''),
  )
}

/** Throws `bad_gateway` where no client can be sent such a status line. */
export function requireStatus(status: number, reason: string): void {
  // The reason is not passed on: HTTP/2 has none. Bytes beyond ASCII are read as UTF-8.
  if (status >= 200 && status <= 599 && !/[^\t -\uffff]/.test(reason)) return
  throw new SallyportError('bad_gateway', `the origin's status line is bad: ${status}`)
}

/** Whether such an answer ends with its head, whatever length that gives, which of 304 is that of a 200 (RFC 9110 8.6). */
export function isEmpty(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

/** Fields of early hints that browsers read; any other is the answer's own, which may yet say something else. */
const HINTING = new Set(['link', 'content-security-policy', 'referrer-policy'])

/** The fields of an origin's 103 for the client, as `responseFields` has an answer's; none where it links to nothing. */
export function hintFields(raw: readonly Buffer[]): string[] {
  const fields = endToEnd(raw)
  const kept = fields.filter((_, at) => HINTING.has((fields[at - (at % 2)] as string).toLowerCase()))
  return hasField(kept, 'link') ? kept : []
}

const ASKED = 'sallyport-challenge'
const LEVELS: Readonly<Record<string, ChallengeLevel>> = { 1: 1, 2: 2, 3: 3 }

/** The level of the pass that an origin's answer asks its client for. */
export function askedLevel(raw: readonly Buffer[]): ChallengeLevel | undefined {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as Buffer
    if (name.length !== ASKED.length || name.toString('latin1').toLowerCase() !== ASKED) continue
    return LEVELS[(raw[at + 1] as Buffer).toString('latin1').trim()]
  }
  return undefined
}

/** Fields that are not taken from a trailer section: they say how a message is framed, routed, cached or read (RFC 9110 6.5.1). */
const NOT_TRAILED = new Set([
  'age',
  'authorization',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'date',
  'expires',
  'host',
  'location',
  'pragma',
  'proxy-authenticate',
  'retry-after',
  'set-cookie',
  'strict-transport-security',
  'vary',
  'www-authenticate',
])

/** The trailer section of an origin's answer for the client, as `responseFields` has the head. */
export function trailerFields(raw: readonly Buffer[], onConflict: (name: string) => void): string[] {
  const fields = endToEnd(raw)
  const allowed = fields.filter((_, at) => !NOT_TRAILED.has((fields[at - (at % 2)] as string).toLowerCase()))
  return onlyOnce(allowed, onConflict)
}

interface EndToEnd {
  /** Throws `bad_gateway` for a transfer coding beside chunks. */
  readonly requiresNoCoding?: boolean | undefined
  /** A field that may stand once came with two values; absent: fields that may stand once are not looked at. */
  readonly onConflict?: ((name: string) => void) | undefined
}

function endToEnd(
  raw: readonly string[] | readonly Buffer[],
  { requiresNoCoding, onConflict }: EndToEnd = {},
): string[] {
  const fields = isText(raw) ? raw : textsOf(raw)
  if (isText(raw)) for (const text of raw) requireSendable(text)
  const kept: string[] = []
  const singles: string[] = []
  let named: readonly string[] = []
  let hasTwo = false
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string
    let value = fields[i + 1] as string
    if (isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))) value = trimmed(value)
    const lower = name.toLowerCase()
    const action = TABLE.get(lower) ?? TABLE.find(lower)
    if (action === 'connection') {
      if (!PLAIN_CONNECTIONS.has(value.toLowerCase())) named = named.concat(madeHopByHop(value))
    } else if (action === 'coding') {
      if (requiresNoCoding) requireNoCoding(value)
    } else if (action !== 'drop') {
      kept.push(name, value)
      if (action === 'keep') continue
      hasTwo ||= singles.includes(lower)
      singles.push(lower)
    }
  }
  const left = named.length === 0 ? kept : withoutNamed(kept, named)
  return hasTwo && onConflict !== undefined ? onlyOnce(left, onConflict) : left
}

/**
 * Fields (name, value, name, value …) in which what may stand once does: the first of equal ones (nginx and an application
 * often add the same), the last where they differ, and then `onConflict` is called with the name. Changes the list.
 */
function onlyOnce(fields: string[], onConflict: (name: string) => void): string[] {
  const places = new Map<string, number>()
  let to = 0
  for (let at = 0; at < fields.length; at += 2) {
    const [field, value] = [fields[at] as string, fields[at + 1] as string]
    const name = field.toLowerCase()
    if (TABLE.get(name) === 'single') {
      const known = places.get(name)
      if (known !== undefined) {
        if (fields[known + 1] === value) continue
        if (name !== LIST) onConflict(name)
        fields[known + 1] = name === LIST ? `${fields[known + 1]}, ${value}` : value
        continue
      }
      places.set(name, to)
    }
    fields[to++] = field
    fields[to++] = value
  }
  fields.length = to
  return fields
}

/** The parser undoes chunks alone, and the field that names another coding is the hop's. */
function requireNoCoding(value: string): void {
  const coding = value.split(',').find((name) => !NO_CODINGS.has(name.trim().toLowerCase()))
  if (coding === undefined) return
  throw new SallyportError('bad_gateway', `the origin's answer has the transfer coding ${coding.trim()}, unasked`)
}

/** The second was one until RFC 7230, and changes nothing. */
const NO_CODINGS = new Set(['chunked', 'identity', ''])

function requireSendable(text: string): void {
  if (UNSENDABLE.test(text)) throw new SallyportError('bad_gateway', "a field of the origin's answer has control bytes")
}

/** Without the blanks around it, which HTTP/2 forbids (RFC 9113 8.2.1). */
function trimmed(value: string): string {
  let [from, to] = [0, value.length]
  while (from < to && isBlank(value.charCodeAt(from))) from++
  while (to > from && isBlank(value.charCodeAt(to - 1))) to--
  return to - from === value.length ? value : value.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function hasField(fields: readonly string[], name: string): boolean {
  for (let at = 0; at < fields.length; at += 2) if (fields[at]?.toLowerCase() === name) return true
  return false
}

function isText(raw: readonly string[] | readonly Buffer[]): raw is readonly string[] {
  return typeof raw[0] === 'string'
}

/** One conversion for all, because each costs as much as cutting five texts out of one. */
function textsOf(raw: readonly Buffer[]): readonly string[] {
  const text = Buffer.concat(raw).toString('latin1')
  requireSendable(text)
  let end = 0
  return raw.map(({ length }) => {
    end += length
    return text.slice(end - length, end)
  })
}
