import { parseUrl } from '../parse-url.ts'
import { parseAddress } from './address.ts'

/**
 * Names with these top labels are never looked up in the public DNS, because answers would describe our own network and not the Internet:
 * special-use names (RFC 6761, RFC 6762, RFC 7686, RFC 9476), `internal` (ICANN, 2024), names that private networks use unofficially (RFC
 * 6762 appendix G), and `arpa`, which holds no hosts. `test` and `example` are absent: by RFC 6761 sections 6.2 and 6.5 software resolves
 * them like any other.
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

/** A URL parser would read these as the end of the host or as an escape, or would drop them. */
const NEVER_IN_NAME = /[/?#@:[\]%\\\p{C}\p{Z}]/u

/**
 * Returns the public hostname that `text` writes, as A-labels in lower case without the trailing dot, or `undefined`. A name has at least
 * two labels of letters, digits and inner hyphens (RFC 1123 section 2.1); UTS 46 maps internationalised names. An underscore belongs to a
 * record's name, not a host's. A name that some resolver reads as an address (`127.1`, `0x7f.1`, `2130706433`, full-width digits) is not a
 * name.
 */
export function parseHostname(text: string): string | undefined {
  if (text === '' || NEVER_IN_NAME.test(text)) return undefined
  const host = urlHost(`http://${text}/`)
  return host === undefined || parseAddress(host) !== undefined ? undefined : publicName(host)
}

/** Returns the host of a URL as WHATWG reads it: lower case, A-labels, numeric forms as dotted decimal, IPv6 in brackets. */
export function urlHost(url: string): string | undefined {
  return parseUrl(url)?.hostname
}

/** Returns the name without its trailing dot when it can be a public host's, or `undefined`. `host` comes from `urlHost`. */
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
