import { SallyportError } from '../errors.ts'
import { type Address, formatAddress, parseAddress } from './address.ts'
import { parseHostname, publicName, urlHost } from './hostname.ts'
import { formatPrefix, type Prefix, parsePrefix } from './prefix.ts'

/** A parsed target keeps its input in `raw`. */
export type ParsedTarget =
  | { readonly raw: string; readonly kind: 'ipv4' | 'ipv6'; readonly address: Address }
  | { readonly raw: string; readonly kind: 'cidr'; readonly address: Address; readonly prefix: Prefix }
  | { readonly raw: string; readonly kind: 'hostname'; readonly hostname: string }

/** Describes a target (specification: Target). A member exists only for the kinds that have it. */
export interface Target {
  readonly raw: string
  readonly kind: 'ipv4' | 'ipv6' | 'cidr' | 'hostname'
  /** The address that was judged: the given one, the first of a range, or the one that the name resolved to. */
  readonly ip?: string | undefined
  /** A-labels, in lower case, name the host without the trailing dot. */
  readonly hostname?: string | undefined
  /** The range is in CIDR notation, and its host bits are zero. */
  readonly network?: string | undefined
  /** Counts the addresses of the range; absent above 65,536. */
  readonly addresses?: number | undefined
}

/** Characters are UTF-16 units. */
const MAX_TARGET_LENGTH = 2048

/** `Target.addresses` is left out for wider ranges (specification: Limits). */
const MAX_ADDRESSES = 65_536

/**
 * Targets may not contain controls, lone surrogates or white space of any script. Nor may they contain a backslash, which some programs
 * read as a slash, so that they would read different hosts from one URL.
 */
const NEVER_IN_TARGET = /[\p{Cc}\p{Cs}\p{Z}\\]/u

/** Matches a URL with an authority: after the scheme and `://` no further slash follows. */
const HIERARCHICAL = /^([a-z][a-z0-9+.-]*):\/\/(?=[^/])/i

/**
 * Parses an IPv4 or IPv6 address, a CIDR range, a hostname or a URL of any scheme with a host (specification: `target` of `POST
 * /v1/ip/lookup`). Addresses are strict; only the host of a URL is read as browsers do, so `http://0x7f.1/` is the address that a browser
 * would call. Throws `invalid_target`.
 */
export function parseTarget(text: string): ParsedTarget {
  const target =
    text === '' || text.length > MAX_TARGET_LENGTH || NEVER_IN_TARGET.test(text)
      ? undefined
      : HIERARCHICAL.test(text)
        ? urlTarget(text)
        : (addressTarget(text, text) ?? rangeTarget(text) ?? nameTarget(text, parseHostname(text)))
  if (target === undefined) throw new SallyportError('invalid_target')
  return target
}

/** Describes a target (specification: Target), with the address that a hostname resolved to. */
export function describeTarget(parsed: ParsedTarget, resolved?: Address): Target {
  const { raw, kind } = parsed
  if (kind === 'hostname') {
    const { hostname } = parsed
    return { raw, kind, hostname, ...(resolved === undefined ? {} : { ip: formatAddress(resolved) }) }
  }
  const ip = formatAddress(parsed.address)
  if (kind !== 'cidr') return { raw, kind, ip }
  const network = formatPrefix(parsed.prefix)
  const addresses = 2 ** ((parsed.address.family === 4 ? 32 : 128) - parsed.prefix.length)
  return { raw, kind, ip, network, ...(addresses > MAX_ADDRESSES ? {} : { addresses }) }
}

function addressTarget(raw: string, text: string): ParsedTarget | undefined {
  const address = parseAddress(text)
  return address === undefined ? undefined : { raw, kind: address.family === 4 ? 'ipv4' : 'ipv6', address }
}

function rangeTarget(raw: string): ParsedTarget | undefined {
  const prefix = parsePrefix(raw)
  return prefix === undefined ? undefined : { raw, kind: 'cidr', address: prefix.address, prefix }
}

function nameTarget(raw: string, hostname: string | undefined): ParsedTarget | undefined {
  return hostname === undefined ? undefined : { raw, kind: 'hostname', hostname }
}

function urlTarget(raw: string): ParsedTarget | undefined {
  const given = urlHost(raw)
  if (given === undefined || given === '') return undefined
  // WHATWG keeps the host of an unknown scheme as written; read again under http, one name is one host.
  const host = urlHost(`http://${given}/`)
  if (host === undefined) return undefined
  const literal = host.startsWith('[') ? host.slice(1, -1) : host
  return addressTarget(raw, literal) ?? nameTarget(raw, publicName(host))
}
