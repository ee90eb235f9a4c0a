import { tryDecode } from '../language/wide-values.ts'

/** Holds the path of a request target, and every other path that an origin may read from it. */
export interface RequestPath {
  /** The path is as policies are written: decoded once, one slash where there are several, `.` and `..` resolved. */
  readonly path: string
  /** Lists all paths that an origin may read, `path` among them; absent where every origin reads `path`; empty where there are too many. */
  readonly readings?: readonly string[] | undefined
}

/** A target that any client needs has a few. */
const MAX_READINGS = 64
/** Limits the characters of all readings together: each is written and searched several times, and the client must not wait. */
const MAX_CHARACTERS = 65_536

/**
 * Reads the path of a request target in canonical form: without scheme, authority and query; characters that a path may contain unescaped,
 * all others escaped, in capitals (RFC 3986 6.2.2). Servers and frameworks differ in their steps before they route, and in the order:
 * decode, once or twice, with overlong UTF-8; resolve dots; read `\` as `/`; fold runs of `/`; drop `;parameters`, or all from the first
 * `;`; cut at a decoded `?`, `#` or NUL. Each order of these steps is a reading.
 */
export function readPath(target: string): RequestPath {
  const plain = plainPath(target)
  if (plain !== undefined) return { path: plain }
  const received = receivedPath(target)
  const path = render({ text: resolveDots(foldSlashes(readBackslashes(decode(cutAtFragment(received))))), decoded: 1 })
  const steps = readSteps(received)
  if (steps === undefined) return { path, readings: [] }
  const readings = [...new Set([path, ...steps.map(render)])]
  return readings.length === 1 ? { path } : { path, readings }
}

/** Reads the path of a request once, however many policies decide the request. */
export function createPathReader(read = readPath): (target: string) => RequestPath {
  let last: { readonly target: string; readonly is: RequestPath } | undefined
  return (target) => {
    if (last?.target !== target) last = { target, is: read(target) }
    return last.is
  }
}

/**
 * Says why strict paths refuse a target, however it is spelt: origins would read several paths from it. A path may contain `;parameters`, escaped slashes, segments of one dot and text in
 * any charset.
 */
export function pathFault(target: string) {
  if (plainPath(target) !== undefined) return undefined
  const received = receivedPath(target)
  if (/%(?![0-9a-f]{2})/i.test(received)) return 'a percent sign that starts no escape'
  const steps = readSteps(received)
  if (steps === undefined) return 'too many escapes'
  if (steps.some(({ text }) => OVERLONG_SYNTAX.test(text))) return 'overlong UTF-8'
  if (steps.some(({ text }) => text.includes('\0'))) return 'a NUL'
  if (steps.some(({ text }) => text.includes('\\'))) return 'a backslash'
  return steps.some(({ text }) => /\/\.\.(?:\/|$)/.test(text)) ? 'a dot segment' : undefined
}

/**
 * Folds the case of a canonical path. A letter beyond ASCII may fold to one within: K, the kelvin sign, is a k where a decoded path is put
 * into lower case.
 */
export function foldCase(path: string): string {
  return path.replace(/(?:%[89A-F][0-9A-F])+/g, foldedRun).toLowerCase()
}

/** Handles the common case in one pass: no escape, no `;`, no backslash, and no segment that is empty or begins with a dot. */
function plainPath(target: string): string | undefined {
  if (target.charCodeAt(0) !== SLASH) return undefined
  let previous = SLASH
  for (let index = 1; index < target.length; index++) {
    const code = target.charCodeAt(index)
    if (code === QUESTION_MARK) return target.slice(0, index)
    if ((code === SLASH || code === DOT) && previous === SLASH) return undefined
    if (PLAIN[code] !== 1) return undefined
    previous = code
  }
  return target
}

const SLASH = 47
const DOT = 46
const QUESTION_MARK = 63

/** A path may contain these characters unescaped (RFC 3986 3.3), without `;`. */
const PLAIN = new Uint8Array(128)
for (const character of "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,=:@") {
  PLAIN[character.charCodeAt(0)] = 1
}

/** Removes the query, and `http://host` of an absolute-form target; `*` and `host:port` become `/`. One character is one byte. */
function receivedPath(target: string): string {
  const end = target.indexOf('?')
  const bytes = asBytes(end === -1 ? target : target.slice(0, end))
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/\\#]*/i.exec(bytes)
  const path = absolute === null ? bytes : bytes.slice(absolute[0].length)
  return path.startsWith('/') || path.startsWith('\\') ? path : '/'
}

/** A received target has one character for each byte; any other character comes from a target written by a caller. */
function asBytes(text: string): string {
  return /[^\0-\xff]/.test(text) ? Buffer.from(text).toString('latin1') : text
}

/** A path on its way through an origin: its escapes were read `decoded` times. */
interface Step {
  readonly text: string
  readonly decoded: number
}

/** Returns what every order of the steps makes of a path; `undefined` for over `MAX_READINGS` or `MAX_CHARACTERS`. */
function readSteps(received: string): readonly Step[] | undefined {
  const most = Math.min(MAX_READINGS, MAX_CHARACTERS / received.length)
  const steps: Step[] = []
  const known = new Set<string>()
  const add = (text: string, decoded: number): void => {
    const key = `${decoded}${text}`
    if (known.has(key)) return
    known.add(key)
    steps.push({ text, decoded })
  }
  add(received, 0)
  for (let at = 0; at < steps.length; at++) {
    if (steps.length > most) return undefined
    const { text, decoded } = steps[at] as Step
    for (const step of STEPS) add(step(text), decoded)
    if (decoded < MAX_DECODED && text.includes('%')) add(decode(text), decoded + 1)
  }
  return steps
}

const MAX_DECODED = 2

const STEPS: readonly ((path: string) => string)[] = [
  readBackslashes,
  readOverlong,
  foldSlashes,
  resolveDots,
  withoutAuthority,
  (path) => path.replace(/;[^/]*/g, ''),
  (path) => path.replace(/;.*/s, ''),
  (path) => path.replace(/[?#\0].*/s, ''),
]

function decode(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function cutAtFragment(path: string): string {
  const mark = path.indexOf('#')
  return mark === -1 ? path : path.slice(0, mark)
}

function readBackslashes(path: string): string {
  return path.replaceAll('\\', '/')
}

/** Matches the characters of a path's syntax in two to six bytes: `.`, `/`, `%` and NUL, and `\`. */
const OVERLONG_SYNTAX =
  /(?:\xc0|(?:\xe0|\xf0\x80|\xf8\x80\x80|\xfc\x80\x80\x80)\x80)[\xae\xaf\xa5\x80]|(?:\xc1|(?:\xe0|\xf0\x80|\xf8\x80\x80|\xfc\x80\x80\x80)\x81)\x9c/

/** Matches ASCII in two to six bytes, which old readers of UTF-8 accept (RFC 3629 section 10); other charsets have such bytes. */
const OVERLONG = /(?:[\xc0\xc1]|(?:\xe0|\xf0\x80|\xf8\x80\x80|\xfc\x80\x80\x80)[\x80\x81])[\x80-\xbf]/g

function readOverlong(path: string): string {
  return path.replace(OVERLONG, (bytes) => {
    const [low = 0, high = 0] = [bytes.charCodeAt(bytes.length - 1), bytes.charCodeAt(bytes.length - 2)]
    return String.fromCharCode(((high & 1) << 6) | (low & 0x3f))
  })
}

/** `new URL(target, base)` reads the text between two slashes and the next as a host. */
function withoutAuthority(path: string): string {
  return path.startsWith('//') ? path.replace(/^\/\/[^/]*/, '') || '/' : path
}

function foldSlashes(path: string): string {
  return path.replace(/\/{2,}/g, '/')
}

function resolveDots(path: string): string {
  if (!path.includes('/.')) return path
  const kept: string[] = []
  const segments = path.split('/')
  for (const segment of segments.slice(1)) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  const last = segments.at(-1)
  if (last === '.' || last === '..') kept.push('')
  return `/${kept.join('/')}`
}

/** Writes a path in canonical form. Escapes that were not decoded stay, in capitals; a percent sign that is itself is escaped. */
function render({ text, decoded }: Step): string {
  const others = decoded === 0 ? /%[0-9a-f]{2}|[^\w\-.~!$&'()*+,;=:@/]/gi : /[^\w\-.~!$&'()*+,;=:@/]/g
  return text.replace(others, (found) =>
    found.length === 3 ? found.toUpperCase() : `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}

function foldedRun(escapes: string): string {
  const text = tryDecode(escapes)
  return text === escapes ? escapes : text.toUpperCase()
}
