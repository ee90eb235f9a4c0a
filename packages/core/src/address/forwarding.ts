import { type Address, parse4, parseZoned } from './address.ts'

/**
 * Lists request headers in which proxies write the client's address, in lower case. Every client can send them: only the configured header
 * is trusted, and only from a trusted peer; no other reaches an origin.
 */
export const FORWARDING_HEADERS = [
  'forwarded',
  'x-forwarded-for',
  'x-original-forwarded-for',
  'x-real-ip',
  'client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'true-client-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'do-connecting-ip',
  'cloudfront-viewer-address',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-envoy-external-address',
] as const

/** Groups the names by length, so that a header of another length costs one lookup. */
const BY_LENGTH: readonly (readonly string[])[] = Array.from({ length: 32 }, (_, length) =>
  FORWARDING_HEADERS.filter((name) => name.length === length),
)

/** Reports whether raw header fields (name, value, name, value …) hold any of `FORWARDING_HEADERS`. Allocates nothing. */
export function carriesForwarding(fields: readonly string[]): boolean {
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at] as string
    const names = BY_LENGTH[field.length]
    if (names === undefined) continue
    for (let index = 0; index < names.length; index++) if (isNamed(field, names[index] as string)) return true
  }
  return false
}

/** Reports whether a field name, in any case, is `name`, which is in lower case. */
export function isNamed(field: string, name: string): boolean {
  if (field.length !== name.length) return false
  if (field === name) return true
  for (let at = 0; at < name.length; at++) {
    const code = field.charCodeAt(at)
    const lower = code >= 65 && code <= 90 ? code | 32 : code
    if (lower !== name.charCodeAt(at)) return false
  }
  return true
}

/** Returns the first value of a header in raw fields, by its name in lower case. */
export function findField(fields: readonly string[], name: string): string | undefined {
  for (let at = 0; at + 1 < fields.length; at += 2) if (isNamed(fields[at] as string, name)) return fields[at + 1]
  return undefined
}

/** Lists all values of a header in raw fields, by its name in lower case. */
export function listValues(fields: readonly string[], name: string): readonly string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (isNamed(fields[at] as string, name)) values.push(fields[at + 1] as string)
  }
  return values
}

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92

/**
 * Returns the start of the last element of a comma-separated list that ends at `end`: after the comma before it, or 0; -1 when more than
 * `budget` characters must be read. If `quoted`, a comma within quotes separates nothing. It reads from the right, the trusted end: nothing
 * that a client prepends, such as an open quote, changes what a proxy appended.
 */
export function elementStart(line: string, end: number, quoted: boolean, budget: number): number {
  let inQuotes = false
  for (let at = end - 1; at >= 0; at--) {
    if (end - at > budget) return -1
    const code = line.charCodeAt(at)
    if (code === COMMA && !inQuotes) return at + 1
    if (quoted && code === QUOTE && !isEscaped(line, at)) inQuotes = !inQuotes
  }
  return 0
}

/** Reports whether an odd number of backslashes precedes this position. */
function isEscaped(line: string, at: number): boolean {
  let before = at - 1
  while (before >= 0 && line.charCodeAt(before) === BACKSLASH) before--
  return (at - 1 - before) % 2 === 1
}

/** Reads the address of one hop: bare, or in brackets, each with or without a port. */
export function readHop(element: string): Address | undefined {
  return readNode(trimBlanks(element), isPort)
}

/**
 * Reads the only element that is not empty, over all lines of a header of one address. The lines are one list (RFC 9110 section 5.3), which
 * may have empty elements.
 */
export function readOnlyHop(lines: readonly string[]): Address | undefined {
  const [element = '', ...others] = lines
    .join(',')
    .split(',')
    .filter((one) => !isEmptyElement(one))
  return others.length === 0 ? readHop(element) : undefined
}

/**
 * Matches one parameter of a line of `Forwarded` with the `;` or `,` after it, or either alone: RFC 7239 section 4 makes each parameter
 * optional. An element that `elementStart` found has no comma outside of quotes.
 */
const PARAMETER =
  /[ \t]*(?:([!#$%&'*+\-.^_`|~0-9a-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;=]+))[ \t]*(?:[;,][ \t]*|$)|[;,][ \t]*)/giy

/**
 * Reads the address in the `for` parameter of one element of `Forwarded` (RFC 7239 section 4). Returns `undefined` for obfuscated
 * identifiers, `unknown`, an element without exactly one `for`, and malformed text. A value that lacks the quotes required for its colon or
 * brackets is read: it can mean nothing else.
 */
export function readForwarded(element: string): Address | undefined {
  const nodes: string[] = []
  let end = 0
  for (const { 0: all, 1: name = '', 2: quoted, 3: bare = '', index } of element.matchAll(PARAMETER)) {
    if (name.toLowerCase() === 'for') nodes.push(quoted?.replace(QUOTED_PAIR, '$1') ?? bare)
    end = index + all.length
  }
  const [node] = nodes
  return end === element.length && nodes.length === 1 && node !== undefined ? readNode(node, isNodePort) : undefined
}

/** Reads the first `proto` parameter of a line of `Forwarded`. */
export function readForwardedProto(line: string): string | undefined {
  for (const { 1: name = '', 2: quoted, 3: bare } of line.matchAll(PARAMETER)) {
    if (name.toLowerCase() === 'proto') return quoted ?? bare
  }
  return undefined
}

/** RFC 9110 section 5.6.4: a recipient replaces the pair with the character behind the backslash. */
const QUOTED_PAIR = /\\(.)/g

/** Parses an address by RFC 7239 section 6, and bare IPv6; `endsBy` tests what follows the address, which may be a port. */
function readNode(node: string, endsBy: (node: string, at: number) => boolean): Address | undefined {
  if (node.startsWith('[')) {
    const close = node.indexOf(']')
    const inner = node.slice(1, close)
    return close > 0 && inner.includes(':') && endsBy(node, close + 1) ? parseZoned(inner) : undefined
  }
  const colon = node.indexOf(':')
  if (colon >= 0 && parse4(node, 0, colon) >= 0) {
    return endsBy(node, colon) ? parseZoned(node.slice(0, colon)) : undefined
  }
  // Behind an IPv4 address in IPv6 a colon can only begin a port.
  const last = node.lastIndexOf(':')
  const hasPort = last > 0 && node.slice(0, last).includes('.') && endsBy(node, last)
  return parseZoned(hasPort ? node.slice(0, last) : node)
}

/** Reports whether a list element is empty, and so ignored (RFC 9110 section 5.6.1.2). */
export function isEmptyElement(element: string): boolean {
  return trimBlanks(element) === ''
}

/** Reports whether the rest from `at` on is empty, or a colon and a port number. */
function isPort(node: string, at: number): boolean {
  return at === node.length || (/^:[0-9]{1,5}$/.test(node.slice(at)) && Number(node.slice(at + 1)) <= 65_535)
}

/** `Forwarded` also permits a proxy's own name in place of the port number (`obfport`, RFC 7239 section 6). */
function isNodePort(node: string, at: number): boolean {
  return isPort(node, at) || /^:_[a-z0-9._-]+$/i.test(node.slice(at))
}

/** Removes the blanks that may surround a list element (RFC 9110 section 5.6.3): space and tab. */
function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

export function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
