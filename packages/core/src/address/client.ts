import { TRUSTED_PROXIES } from '@sallyport/data/trusted-proxies'
import { SallyportError } from '../errors.ts'
import { suggestion } from '../nearest-word.ts'
import type { InspectedClient } from '../values/inspection.ts'
import type { InspectionRequest } from '../values/request.ts'
import { type Address, formatAddress, parseZoned } from './address.ts'
import { everybodyIn } from './everybody.ts'
import {
  carriesForwarding,
  elementStart,
  findField,
  isEmptyElement,
  isNamed,
  listValues,
  readForwarded,
  readHop,
  readOnlyHop,
} from './forwarding.ts'
import { type Prefix, parseHostOrPrefix } from './prefix.ts'
import { createPrefixSet, type PrefixSet } from './prefix-set.ts'

/** Says which proxies are trusted, and in which headers. The peer of a request must be a trusted proxy. */
export interface ClientTrust {
  /** The header that is read, in lower case; every other is ignored. */
  readonly header: string
  /** The header holds a list of hops, a list by RFC 7239, or the one address of the client. */
  readonly form: 'list' | 'forwarded' | 'single'
  readonly proxies: PrefixSet
  /** The header in which proxies name the JA4 of the client, in lower case; without it no JA4 is read. */
  readonly ja4Header?: string | undefined
  /** True when no proxy is trusted, which is the default. */
  readonly empty: boolean
}

/** Describes the sender of a request, as far as it can be known. */
export interface Client extends Omit<InspectedClient, 'address'> {
  /** `undefined` when the socket has no address, for example because it is closed. */
  readonly address: Address | undefined
  /** The address in canonical form; empty where there is none. */
  readonly text: string
}

export interface ResolvedClient extends Client {
  /** Forwarding headers came and no proxy is trusted: a proxy may stand in front, so a warning is due. */
  readonly forwardedUntrusted: boolean
}

/** Limits the hops and characters of a list that are read, over all its lines. */
const MAX_HOPS = 32
const MAX_CHARACTERS = 2048

export interface TrustedHeaders extends Partial<Pick<ClientTrust, 'ja4Header'>> {
  /** The header that names the client; default `x-forwarded-for`. */
  readonly clientHeader?: string | undefined
}

/** Lists servers of delivery networks as their operators publish them now, by the names of `TRUST_PRESETS`. */
export type FrontEnds = ReadonlyMap<string, readonly Prefix[]>

/** Lists the names of proxy sets that `trustProxy` accepts. */
export const TRUST_PRESETS: readonly string[] = TRUSTED_PROXIES.map(({ preset }) => preset)

/**
 * Reads trust from configuration. `entries` are CIDR ranges, single addresses and names of `TRUST_PRESETS`; `headers` are the trusted
 * headers, or the header that names the client. Each request calls `published` for newer lists than the shipped ones; it must return the
 * same object while they stay the same. Throws `invalid_config` that names the entry when an entry is not readable, when all entries
 * together trust most of an address family, or when a header name is invalid.
 */
export function parseTrust(
  entries: readonly string[],
  headers: string | TrustedHeaders = {},
  published?: () => FrontEnds | undefined,
): ClientTrust {
  const { clientHeader: header = 'x-forwarded-for', ja4Header } =
    typeof headers === 'string' ? { clientHeader: headers } : headers
  const name = parseFieldName('clientHeader', header)
  if (name === 'cloudfront-viewer-address') {
    // This header glues a port to an IPv6 address with a colon, so no reader can tell the two apart.
    throw new SallyportError('invalid_config', `clientHeader: "${header}" is ambiguous; use x-forwarded-for.`)
  }
  const named = entries.flatMap((entry) => trustedPrefixes(entry))
  const everybody = everybodyIn(named)
  if (everybody !== undefined) {
    throw new SallyportError(
      'invalid_config',
      `trustProxy: ${entries.map((entry) => `"${entry}"`).join(', ')} ${entries.length === 1 ? 'is' : 'are together'} most of IPv${everybody}: any client could then forge its address.`,
    )
  }
  const shipped = createPrefixSet(named)
  let known: FrontEnds | undefined
  let proxies = shipped
  return {
    header: name,
    ja4Header: ja4Header === undefined ? undefined : parseFieldName('ja4Header', ja4Header),
    form: name === 'forwarded' ? 'forwarded' : name.endsWith('forwarded-for') ? 'list' : 'single',
    get proxies() {
      const now = published?.()
      if (now !== known) {
        known = now
        const newer = now && entries.flatMap((entry) => trustedPrefixes(entry, now))
        // A list that trusts most of a family is wrong, no matter who published it.
        proxies = newer === undefined || everybodyIn(newer) !== undefined ? shipped : createPrefixSet(newer)
      }
      return proxies
    },
    empty: entries.length === 0,
  }
}

function parseFieldName(key: keyof TrustedHeaders, header: string): string {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header)) {
    throw new SallyportError('invalid_config', `${key}: "${header}" is not the name of a header.`)
  }
  return header.toLowerCase()
}

/** Returns the published prefixes of a preset; a family without published prefixes has the shipped ones. */
function trustedPrefixes(entry: string, published?: FrontEnds): readonly Prefix[] {
  const preset = TRUSTED_PROXIES.find((row) => row.preset === entry)
  if (preset === undefined) return [trustedPrefix(entry)]
  const newer = published?.get(entry) ?? []
  const families = new Set(newer.map(({ address }) => address.family))
  return [...newer, ...preset.prefixes.map(trustedPrefix).filter(({ address }) => !families.has(address.family))]
}

function trustedPrefix(entry: string): Prefix {
  const prefix = parseHostOrPrefix(entry)
  if (prefix === undefined) {
    const presets = suggestion(entry, TRUST_PRESETS)
    throw new SallyportError(
      'invalid_config',
      `trustProxy: "${entry}" is not an address, a CIDR range or a preset${presets}`,
    )
  }
  if (prefix.length === 0) {
    throw new SallyportError('invalid_config', `trustProxy: "${entry}" would let any client forge its address.`)
  }
  return prefix
}

/**
 * Finds the client of a request: its socket peer, or, where the peer is a trusted proxy, the address that the configured header names. A
 * list is read from the right, over all its lines: the first hop that is not trusted is the client; if all are trusted, the leftmost is. So
 * nothing that a client prepends changes the result. Empty elements are skipped; an unreadable one ends the walk at the hop before it.
 * Never throws.
 */
export function resolveClient(
  { peer, fields }: Pick<InspectionRequest, 'peer' | 'fields'>,
  trust: ClientTrust,
): ResolvedClient {
  const { address, via, malformed } = findClient(parseZoned(peer), fields, trust)
  const text = address === undefined ? '' : formatAddress(address)
  if (trust.empty) return { address, text, via, malformed, forwardedUntrusted: carriesForwarding(fields) }
  const isProxy = via === 'peer' && !malformed && address !== undefined && trust.proxies.has(address)
  const resolved = { address, text, via, malformed, forwardedUntrusted: false }
  return isProxy && asksForItself(fields) ? { ...resolved, isProxy } : resolved
}

/** A balancer runs no browser: where a browser seems to call, the proxy forwards and does not say for whom. */
function asksForItself(fields: readonly string[]): boolean {
  if (carriesForwarding(fields)) return false
  const userAgent = findField(fields, 'user-agent') ?? ''
  return !userAgent.startsWith('Mozilla/') || userAgent.includes('(compatible;')
}

/** Reports whether an address is a loopback address: 127.0.0.0/8 or ::1. */
export function isLoopback({ family, a, b, c, d }: Address): boolean {
  return family === 4 ? d >>> 24 === 127 : (a | b | c) === 0 && d === 1
}

export function isTrustedPeer(peer: string, trust: ClientTrust): boolean {
  const address = trust.empty ? undefined : parseZoned(peer)
  return address !== undefined && trust.proxies.has(address)
}

type FoundClient = Omit<Client, 'text'>

function findClient(peer: Address | undefined, fields: readonly string[], trust: ClientTrust): FoundClient {
  if (peer === undefined) return { address: undefined, via: 'none', malformed: false }
  if (trust.empty || !trust.proxies.has(peer)) return { address: peer, via: 'peer', malformed: false }
  return trust.form === 'single' ? readOne(fields, peer, trust) : walk(fields, peer, trust)
}

/** A header that holds one address must occur once: of two, one is forged, and nothing says which. */
function readOne(fields: readonly string[], peer: Address, trust: ClientTrust): FoundClient {
  const lines = listValues(fields, trust.header)
  const address = readOnlyHop(lines)
  return address === undefined ? nameClient(peer, peer, lines.length > 0) : nameClient(address, peer, false)
}

function walk(fields: readonly string[], peer: Address, trust: ClientTrust): FoundClient {
  const quoted = trust.form === 'forwarded'
  let hop = peer
  let hops = 0
  let characters = 0
  let lines = 0
  for (let at = fields.length - 2; at >= 0; at -= 2) {
    if (!isNamed(fields[at] as string, trust.header)) continue
    const line = fields[at + 1] as string
    let end = line.length
    lines++
    do {
      const start = elementStart(line, end, quoted, MAX_CHARACTERS - characters)
      if (start < 0 || hops === MAX_HOPS) return nameClient(hop, peer, true)
      const element = line.slice(start, end)
      characters += end - start + 1
      end = start - 1
      if (isEmptyElement(element)) continue
      const address = quoted ? readForwarded(element) : readHop(element)
      if (address === undefined) return nameClient(hop, peer, true)
      hop = address
      if (!trust.proxies.has(hop)) return nameClient(hop, peer, false)
      hops++
    } while (end >= 0)
  }
  // A header without any hop names no client.
  return nameClient(hop, peer, lines > 0 && hops === 0)
}

/** `address` is the same object as `peer` where no hop was read. */
function nameClient(address: Address, peer: Address, malformed: boolean): FoundClient {
  return { address, via: address === peer ? 'peer' : 'header', malformed }
}
