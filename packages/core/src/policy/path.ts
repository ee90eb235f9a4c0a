/** A request's path in the one form that policies are written in. */
export interface CanonicalPath {
  readonly path: string
  /** True when the target was already written so: only then may a rule that allows match it. */
  readonly canonical: boolean
}

/**
 * The path of a request target in canonical form: without scheme, authority, query and fragment; what a path may hold
 * unescaped, all else escaped, in capitals; `\` read as `/`; runs of `/` folded into one; `.` and `..` resolved (RFC
 * 3986 6.2.2). Servers and frameworks differ in each of these, so one target can name several paths:
 * rules that flag or block are matched against this form, rules that allow only where the target already had it.
 */
export function canonicalPath(target: string): CanonicalPath {
  const plain = plainPath(target)
  if (plain !== undefined) return { path: plain, canonical: true }
  const raw = beforeQuery(target)
  const path = resolveDots(rewriteEscapes(pathOf(raw)).replaceAll('\\', '/'))
  return { path, canonical: path === raw }
}

/** The common case in one pass: `/`, letters, digits, `-`, `_`, `~` and dots inside a segment, then the query. */
function plainPath(target: string): string | undefined {
  if (target.charCodeAt(0) !== SLASH) return undefined
  let previous = SLASH
  for (let index = 1; index < target.length; index++) {
    const code = target.charCodeAt(index)
    if (code === QUESTION_MARK) return target.slice(0, index)
    if (code === SLASH || code === DOT) {
      if (previous === SLASH) return undefined
    } else if (!isUnreservedCode(code)) return undefined
    previous = code
  }
  return target
}

const SLASH = 47
const DOT = 46
const QUESTION_MARK = 63

/** Letters, digits, `-`, `_` and `~` (RFC 3986 2.3, without the dot, which has a meaning of its own). */
function isUnreservedCode(code: number): boolean {
  const letter = code | 32
  return (letter >= 97 && letter <= 122) || (code >= 48 && code <= 57) || code === 45 || code === 95 || code === 126
}

function beforeQuery(target: string): string {
  const end = target.indexOf('?')
  return end === -1 ? target : target.slice(0, end)
}

/** Fragment removed, and `http://host` of an absolute-form target; `*` and `host:port` become `/`. */
function pathOf(raw: string): string {
  const fragment = raw.indexOf('#')
  const bare = fragment === -1 ? raw : raw.slice(0, fragment)
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/\\]*/i.exec(bare)
  const path = absolute === null ? bare : bare.slice(absolute[0].length)
  return path.startsWith('/') || path.startsWith('\\') ? path : '/'
}

/** Escapes, and what a path may not hold (RFC 3986 3.3), a percent sign that escapes nothing among it. */
const TO_REWRITE = /%([0-9a-f]{2})|[^\w\-.~!$&'()*+,;=:@/\\]/gi
/** What a path may hold, and the separators: an escaped slash or backslash is one to some servers, and is read as one. */
const PLAIN = /[\w\-.~!$&'()*+,;=:@/\\]/

function rewriteEscapes(path: string): string {
  return path.replace(TO_REWRITE, (found, hex: string | undefined) => {
    if (hex === undefined) return escaped(found.charCodeAt(0))
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return PLAIN.test(character) ? character : found.toUpperCase()
  })
}

/** A received target has one character for each byte; any other character comes from a target written by a caller. */
function escaped(code: number): string {
  const bytes = code <= 0xff ? [code] : [...new TextEncoder().encode(String.fromCharCode(code))]
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

function resolveDots(path: string): string {
  const kept: string[] = []
  const segments = path.split('/')
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  const last = segments.at(-1)
  const directory = kept.length > 0 && (last === '' || last === '.' || last === '..')
  return `/${kept.join('/')}${directory ? '/' : ''}`
}
