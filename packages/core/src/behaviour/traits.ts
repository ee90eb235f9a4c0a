import { CHALLENGE_COOKIES, PASS_COOKIES } from '../challenge/names.ts'
import { addToHash, hashText, NO_HASH } from '../hash-text.ts'
import type { RequestTraits } from '../values/behaviour.ts'

/** Traits are read from these facts, once the response has ended. */
export interface TraitFacts {
  readonly method: string
  readonly target: string
  readonly host: string
  readonly cookie?: string | undefined
  readonly referer?: string | undefined
  readonly isConditional: boolean
  /** The browser prefetches for a visit that may never come. */
  readonly isAhead: boolean
  readonly fields: readonly string[]
  /** The client's HTTP/2 SETTINGS name this window, and its TLS has this JA4. */
  readonly http2Window?: number | undefined
  readonly ja4?: string | undefined
  readonly status: number
  readonly contentType?: string | undefined
  readonly setCookies?: readonly string[] | undefined
}

type FieldFacts = Pick<TraitFacts, 'cookie' | 'referer' | 'isConditional' | 'isAhead'>
type OtherFacts = Omit<TraitFacts, keyof FieldFacts>

/** Reads the traits of a request whose response the host has seen. */
export function readTraits(facts: OtherFacts, { cookie, referer, isConditional, isAhead }: FieldFacts): RequestTraits {
  const { target, host, fields, http2Window = 0, ja4 } = facts
  const kind = readKind(facts, isAhead)
  const isPage = kind === 'page'
  const isRead = isPage || kind === 'file'
  const connection = ja4 === undefined ? http2Window : http2Window ^ hashText(ja4)
  return {
    kind,
    isConditional: isRead && (isConditional || facts.status === 304),
    isReferred: isPage && referer !== undefined && isOfHost(referer, host),
    sent: isPage && cookie !== undefined ? readSentNames(cookie) : 0,
    set: facts.setCookies === undefined ? 0 : readSetNames(facts.setCookies),
    path: isRead ? hashText(target) : 0,
    wire: isPage ? hashOrder(fields) ^ connection : 0,
  }
}

const PAGE = /^\s*(?:text\/(?:html|markdown)\b|application\/(?:[\w.-]+[.+])?xhtml\+xml\b)/i
const FILE = /^\s*(?:text\/(?:css|javascript)|application\/(?:x-)?javascript|image\/|font\/|audio\/|video\/)/i
/** A response of 304 has no type, so the extension of the path tells whether it is a file. */
const FILE_NAME = /\.(?:css|m?js|png|jpe?g|gif|webp|avif|svg|ico|woff2?|ttf|otf)$/i

function readKind({ method, target, status, contentType }: OtherFacts, isAhead: boolean): RequestTraits['kind'] {
  if (method !== 'GET') return 'other'
  if (status === 304) return FILE_NAME.test(target.split(/[?#]/, 1)[0] ?? '') ? 'file' : isAhead ? 'other' : 'page'
  if (status === 404 || status === 410) return isAhead ? 'other' : 'missing'
  if (status < 200 || status > 299 || contentType === undefined) return 'other'
  if (FILE.test(contentType)) return 'file'
  return PAGE.test(contentType) && !isAhead ? 'page' : 'other'
}

/** Reports whether a Referer is a page of a host, in any case. */
function isOfHost(referer: string, host: string): boolean {
  const from = referer.indexOf('://') + 3
  if (from < 3 || host === '') return false
  const end = from + host.length
  if (end < referer.length && !'/?#:'.includes(referer[end] as string)) return false
  // Browsers write both in lower case.
  return referer.startsWith(host, from) || referer.slice(from, end).toLowerCase() === host.toLowerCase()
}

const OURS: ReadonlySet<number> = new Set([...PASS_COOKIES, ...CHALLENGE_COOKIES].map(hashText))
/** More names add no information. */
const MAX_NAMES = 64

function readSentNames(cookie: string): number {
  let bits = 0
  let from = 0
  for (let count = 0; from < cookie.length && count < MAX_NAMES; count++) {
    bits |= readNameBit(cookie, from)
    const next = cookie.indexOf(';', from)
    if (next === -1) break
    from = next + 1
  }
  return bits
}

/** A client cannot return a cookie that the response deletes. */
const DELETES = /;\s{0,9}(?:max-age=(?:0|-\d{1,12})\s{0,9}(?:;|$)|expires=[^;]{0,60}\b19[67]\d\b)/i

function readSetNames(lines: readonly string[]): number {
  let bits = 0
  for (const line of lines.slice(0, MAX_NAMES)) if (!DELETES.test(line)) bits |= readNameBit(line, 0)
  return bits
}

const [EQUALS, SEMICOLON, SPACE] = [0x3d, 0x3b, 0x20]

/** Returns the bit of the name that begins at a place; 0 for an empty name, and for our own cookies. */
function readNameBit(text: string, from: number): number {
  let start = from
  while (text.charCodeAt(start) === SPACE) start++
  let hash = NO_HASH
  let at = start
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === EQUALS || code === SEMICOLON || code === SPACE) break
    hash = addToHash(hash, code)
  }
  if (at === start || OURS.has(hash)) return 0
  return 1 << ((hash ^ (hash >>> 15)) & 31)
}

/** Fields with these names come and go between the requests of one browser, so their place shows nothing. */
const VARYING = (
  'cookie referer origin range if-none-match if-modified-since cache-control pragma host sec-fetch-site sec-fetch-user ' +
  'sec-fetch-mode sec-fetch-dest content-length content-type x-request-id traceparent x-forwarded-for x-real-ip ' +
  'forwarded cf-connecting-ip cf-ray'
).split(' ')

/** Records the first letters of these names by their length, one bit each: no header that browsers always send shares both. */
const VARYING_LETTERS = VARYING.reduce((letters, name) => {
  ;(letters[name.length] as number) |= letterBit(name)
  return letters
}, new Int32Array(32))

function letterBit(name: string): number {
  return 1 << (name.charCodeAt(0) & 31)
}

/** Hashes length and three letters of the names of fields in their order, in any case, without those that come and go. */
function hashOrder(fields: readonly string[]): number {
  let hash = NO_HASH
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    const { length } = name
    if (((VARYING_LETTERS[length & 31] as number) & letterBit(name)) !== 0) continue
    const ends = ((name.charCodeAt(0) & 31) << 5) | (name.charCodeAt(length - 1) & 31)
    hash = addToHash(hash, (length << 15) | ((name.charCodeAt(length >> 1) & 31) << 10) | ends)
  }
  return hash
}
