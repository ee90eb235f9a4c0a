import { SallyportError } from '../errors.ts'
import { type Address, formatAddress, parseAddress } from './address.ts'
import { parseHostname, publicName, urlHost } from './hostname.ts'
import { formatPrefix, type Prefix, parsePrefix } from './prefix.ts'

/** A parsed target. `raw` is the input as given. */
export type ParsedTarget =
  | { readonly raw: string; readonly kind: 'ipv4' | 'ipv6'; readonly address: Address }
  | { readonly raw: string; readonly kind: 'cidr'; readonly address: Address; readonly prefix: Prefix }
  | { readonly raw: string; readonly kind: 'hostname'; readonly hostname: string }

/** Specification: Target. A member is there only for the kinds that have it. */
export interface Target {
  readonly raw: string
  readonly kind: 'ipv4' | 'ipv6' | 'cidr' | 'hostname'
  /** The address that was judged: as given, a range's first, or what the name resolved to. */
  readonly ip?: string | undefined
  /** A-labels, lower case, without trailing dot. */
  readonly hostname?: string | undefined
  /** CIDR notation, host bits zero. */
  readonly network?: string | undefined
  /** How many addresses the range has; absent above 65,536. */
  readonly addresses?: number | undefined
}

/** In UTF-16 units. */
const MAX_TARGET_LENGTH = 2048

/** `Target.addresses` is left out for wider ranges (specification: Limits). */
const MAX_ADDRESSES = 65_536

/**
 * Refused in targets: controls, lone surrogates, white space of any script; and the backslash, which some programs read as
 * a slash and others do not, so that they would take different hosts from one URL.
 */
const NEVER_IN_TARGET = /[\p{Cc}\p{Cs}\p{Z}\\]/u

/** A URL with an authority: scheme, `://`, and then not at once a further slash. */
const HIERARCHICAL = /^([a-z][a-z0-9+.-]*):\/\/(?=[^/])/i

/**
 * An IPv4 or IPv6 address, a CIDR range, a hostname or a URL of any scheme with a host (specification: `target` of
 * `POST /v1/ip/lookup`). Addresses are strict; only the host of a URL is read as browsers do, so that
 * `http://0x7f.1/` is the address that a browser would call. Throws `invalid_target`.
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

/** Specification: Target, of a target and of the address that a hostname resolved to. */
export function targetOf(parsed: ParsedTarget, resolved?: Address): Target {
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
  // WHATWG leaves the host of a scheme it does not know as it is; read again under http, one name is one host.
  const host = urlHost(`http://${given}/`)
  if (host === undefined) return undefined
  const literal = host.startsWith('[') ? host.slice(1, -1) : host
  return addressTarget(raw, literal) ?? nameTarget(raw, publicName(host))
}
