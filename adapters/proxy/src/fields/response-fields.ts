import { type ChallengeLevel, SallyportError } from '@sallyport/core'
import { ID_HEADER, isForCaches, isReserved, privateControl } from '@sallyport/node/internal'
import {
  createFieldTable,
  HOP_FIELDS,
  listValues,
  madeHopByHop,
  PLAIN_CONNECTIONS,
  withoutNamed,
} from './field-table.ts'

/** Says what happens to a field of an answer; `single` may occur once. */
type Action = 'keep' | 'single' | 'drop' | 'connection' | 'coding'

/** Fields that may occur once in an answer: fields that Node sends only once over HTTP/2, and two more of RFC 9110. */
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

/** Names a list, of which Node accepts only one field: several fields are joined, which means the same (RFC 9110 5.3). */
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

/** Matches characters that no field may hold: neither version of HTTP can carry them. */
const UNSENDABLE = /[^\t -~\x80-\xff]/

/** Describes the answer that gets the fields. */
export interface OwnAnswer {
  readonly status: number
  readonly id: string
  /** Our fields, which apply where the origin sets none; names are in lower case. */
  readonly ownFields: Readonly<Record<string, string>>
  /** Whether only the client's own cache may keep the response. */
  readonly isPrivate?: boolean | undefined
  /** Called when a field that may occur once came with two values. */
  onConflict(name: string): void
}

/**
 * Returns the fields of an origin's answer for the client, name, value, name, value …: drops hop-by-hop fields, fields that Connection
 * names, and our own, which stay between us and the origin; keeps each single field once. Then follow the request's id and `ownFields`.
 * An unrequested transfer coding other than chunks (`TE` ends here) makes a body that the client could not read. A status without content
 * has no length but 0 (RFC 9110 8.6, 15.3.6). A field value is Latin-1 (RFC 9110 5.5). Throws `bad_gateway`
 * where a field has forbidden bytes.
 */
export function responseFields(raw: readonly Buffer[], answer: OwnAnswer): string[] {
  const { status, id, ownFields, isPrivate } = answer
  const fields = endToEnd(raw, answer)
  const sized = status === 204 || status === 205 ? withoutNamed(fields, ['content-length']) : fields
  const kept = isPrivate ? privateFields(sized) : sized
  if (status === 205) kept.push('Content-Length', '0')
  kept.push(ID_HEADER, id)
  for (const name in ownFields) {
    const isKept = name === 'set-cookie' ? !isShared(kept) : !hasField(kept, name)
    if (isKept) kept.push(name, ownFields[name] as string)
  }
  return kept
}

/** Returns fields that keep shared caches from an answer, so that they serve no answer with a pass to clients without one. */
function privateFields(fields: readonly string[]): string[] {
  const controls = listValues(fields, 'cache-control')
  const kept = fields.filter((_, at) => {
    const name = fields[at - (at % 2)] as string
    return name.toLowerCase() !== 'cache-control' && !isForCaches(name)
  })
  return [...kept, 'Cache-Control', privateControl(controls.join(','))]
}

/** Reports whether shared caches may keep an answer, and with it a cookie. */
function isShared(fields: readonly string[]): boolean {
  return listValues(fields, 'cache-control').some((value) => /public|s-maxage/i.test(value))
}

/** Throws `bad_gateway` for a status line that no client can receive. */
export function requireStatus(status: number, reason: string): void {
  // The reason is not passed on: HTTP/2 has none. Bytes beyond ASCII are read as UTF-8.
  if (status >= 200 && status <= 599 && !/[^\t -\uffff]/.test(reason)) return
  throw new SallyportError('bad_gateway', `the status line of the origin is not valid: ${status}`)
}

/** Reports whether an answer with this status ends with its head, although a 304 gives the length of a 200 (RFC 9110 8.6). */
export function isEmpty(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

/** Fields of early hints that browsers read; any other field belongs to the answer, which may still differ. */
const HINTING = new Set(['link', 'content-security-policy', 'referrer-policy'])

/** Returns the fields of an origin's 103 for the client, treated as in `responseFields`; none where the 103 has no link. */
export function hintFields(raw: readonly Buffer[]): string[] {
  const fields = endToEnd(raw)
  const kept = fields.filter((_, at) => HINTING.has((fields[at - (at % 2)] as string).toLowerCase()))
  return hasField(kept, 'link') ? kept : []
}

const ASKED = 'sallyport-challenge'
const LEVELS: Readonly<Record<string, ChallengeLevel>> = { 1: 1, 2: 2, 3: 3 }

/** Returns the level of the pass that an origin's answer requires of its client. */
export function askedLevel(raw: readonly Buffer[]): ChallengeLevel | undefined {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as Buffer
    if (name.length !== ASKED.length || name.toString('latin1').toLowerCase() !== ASKED) continue
    return LEVELS[(raw[at + 1] as Buffer).toString('latin1').trim()]
  }
  return undefined
}

/** Fields that a trailer section must not set: they say how a message is framed, routed, cached or read (RFC 9110 6.5.1). */
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

/** Returns the trailer section of an origin's answer for the client, treated as in `responseFields`. */
export function trailerFields(raw: readonly Buffer[], onConflict: (name: string) => void): string[] {
  const fields = endToEnd(raw)
  const allowed = fields.filter((_, at) => !NOT_TRAILED.has((fields[at - (at % 2)] as string).toLowerCase()))
  return keepOnce(allowed, onConflict)
}

/** Lists the fields that pass; `answer` is absent for hints and trailers, where codings and repeated fields are not checked. */
function endToEnd(raw: readonly Buffer[], answer?: Pick<OwnAnswer, 'onConflict'>): string[] {
  const fields = decodeFields(raw)
  const kept: string[] = []
  const singles: string[] = []
  let named: readonly string[] = []
  let hasTwo = false
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string
    let value = fields[i + 1] as string
    if (isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))) value = cutBlanks(value)
    const lower = name.toLowerCase()
    const action = TABLE.get(lower) ?? TABLE.find(lower)
    if (action === 'connection') {
      if (!PLAIN_CONNECTIONS.has(value.toLowerCase())) named = named.concat(madeHopByHop(value))
    } else if (action === 'coding') {
      if (answer !== undefined) requireNoCoding(value)
    } else if (action !== 'drop') {
      kept.push(name, value)
      if (action === 'keep') continue
      hasTwo ||= singles.includes(lower)
      singles.push(lower)
    }
  }
  const left = named.length === 0 ? kept : withoutNamed(kept, named)
  return hasTwo && answer !== undefined ? keepOnce(left, answer.onConflict) : left
}

/**
 * Keeps single fields once in a list (name, value, name, value …): the first of equal values (nginx and an application often add the same),
 * the last of different values, and then calls `onConflict` with the name. Changes the list.
 */
function keepOnce(fields: string[], onConflict: (name: string) => void): string[] {
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

/** Throws for a transfer coding other than chunks: the parser decodes only chunks, and Transfer-Encoding is hop-by-hop. */
function requireNoCoding(value: string): void {
  const coding = value.split(',').find((name) => !NO_CODINGS.has(name.trim().toLowerCase()))
  if (coding === undefined) return
  throw new SallyportError('bad_gateway', `the origin sent an unrequested transfer coding: ${coding.trim()}`)
}

/** `identity` was a coding until RFC 7230, and changes nothing. */
const NO_CODINGS = new Set(['chunked', 'identity', ''])

/** Trims the blanks around a value, which HTTP/2 forbids (RFC 9113 8.2.1). */
function cutBlanks(value: string): string {
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

/** Decodes all fields in one conversion, because each conversion costs as much as cutting five texts out of one. */
function decodeFields(raw: readonly Buffer[]): readonly string[] {
  const text = Buffer.concat(raw).toString('latin1')
  if (UNSENDABLE.test(text)) throw new SallyportError('bad_gateway', 'the origin sent a header with control characters')
  let end = 0
  return raw.map(({ length }) => {
    end += length
    return text.slice(end - length, end)
  })
}
