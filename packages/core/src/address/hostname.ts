import { parseAddress } from './address.ts'

/**
 * Top labels that are never looked up in the public DNS, because the answers would be about the network we run in and
 * not about the Internet: special-use names (RFC 6761, RFC 6762, RFC 7686, RFC 9476), `internal` (ICANN, 2024),
 * the names that private networks use unofficially (RFC 6762 appendix G), and `arpa`, which holds no hosts. `test`
 * and `example` are not here: by RFC 6761 sections 6.2 and 6.5 software resolves them like any other.
 */
const NEVER_PUBLIC: ReadonlySet<string> = new Set([
  'alt',
  'arpa',
  'corp',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'onion',
  'private',
])

const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

/** Characters that a URL parser would take for the end of the host or an escape, or would drop. */
const NEVER_IN_NAME = /[/?#@:[\]%\\\p{C}\p{Z}]/u

/**
 * The public hostname that `text` is, as A-labels in lower case without the trailing dot, or `undefined`. A name has
 * two labels at least, of letters, digits and inner hyphens (RFC 1123 section 2.1; no underscore: that is a record's
 * name, not a host's), internationalised names as UTS 46 maps them. A name that some resolver would take for an
 * address (`127.1`, `0x7f.1`, `2130706433`, full-width digits) is not a name.
 */
export function parseHostname(text: string): string | undefined {
  if (text === '' || NEVER_IN_NAME.test(text)) return undefined
  const host = urlHost(`http://${text}/`)
  return host === undefined || parseAddress(host) !== undefined ? undefined : publicName(host)
}

/** The host of a URL as WHATWG reads it: lower case, A-labels, numeric forms as dotted decimal, IPv6 in brackets. */
export function urlHost(url: string): string | undefined {
  try {
    return new URL(url).hostname
  } catch {
    return undefined
  }
}

/** The name without its trailing dot when it can be a public host's, or `undefined`. `host` is as of `urlHost`. */
export function publicName(host: string): string | undefined {
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  if (name.length > MAX_NAME_LENGTH) return undefined
  const labels = name.split('.')
  const top = labels.at(-1)
  if (labels.length < 2 || top === undefined || NEVER_PUBLIC.has(top) || !labels.every(isLabel)) return undefined
  return name
}

function isLabel(label: string): boolean {
  return label.length <= MAX_LABEL_LENGTH && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(label)
}
