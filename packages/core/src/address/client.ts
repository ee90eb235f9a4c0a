import { TRUSTED_PROXIES } from '@sallyport/data/trusted-proxies'
import { SallyportError } from '../errors.ts'
import { suggestion } from '../nearest-word.ts'
import type { InspectionRequest } from '../values/request.ts'
import { type Address, parseAddress } from './address.ts'
import { everybodyIn } from './everybody.ts'
import {
  carriesForwarding,
  elementStart,
  isEmptyElement,
  isNamed,
  readForwarded,
  readHop,
  readOnlyHop,
} from './forwarding.ts'
import { type Prefix, parsePrefix, prefixOf } from './prefix.ts'
import { createPrefixSet, type PrefixSet } from './prefix-set.ts'
import { parseZoned } from './zone.ts'

/** Which proxies are believed, and in which one header. The peer of a request must be one of them. */
export interface ClientTrust {
  /** The header that is read, in lower case; every other is ignored. */
  readonly header: string
  /** How it is read: a list of hops, a list by RFC 7239, or the one address of the client. */
  readonly form: 'list' | 'forwarded' | 'single'
  readonly proxies: PrefixSet
  /** True when no proxy is trusted, which is the default. */
  readonly empty: boolean
}

/** The sender of a request, as far as it can be known. */
export interface Client {
  /** `undefined` when the socket has no address, for example because it is gone: nothing is assumed then. */
  readonly address: Address | undefined
  /** `peer`: the socket. `header`: the configured header, from a trusted peer. `none`: there is no address. */
  readonly via: 'peer' | 'header' | 'none'
  /** Something in the header could not be read; `address` is the last hop before it, seen from us. */
  readonly malformed: boolean
  /** True where the peer is a trusted proxy and no header says that it forwards a request: it asks for itself. */
  readonly isProxy?: true | undefined
}

export interface ResolvedClient extends Client {
  /** Forwarding headers came and no proxy is trusted at all: worth a warning, since there may be one in front. */
  readonly forwardedUntrusted: boolean
}

/** The most that is read of a list, over all its lines. */
const MAX_HOPS = 32
const MAX_CHARACTERS = 2048

/** Servers of delivery networks as their operators publish them now, by the names of `TRUST_PRESETS`. */
export type FrontEnds = ReadonlyMap<string, readonly Prefix[]>

/** Names of the sets of proxies that can be trusted by name. */
export const TRUST_PRESETS: readonly string[] = TRUSTED_PROXIES.map(({ preset }) => preset)

/**
 * Trust from configuration. `entries` are CIDR ranges, single addresses and the names of `TRUST_PRESETS`; `header` is
 * the one header believed from them. `published` is asked at each request, for lists that are newer than what is shipped;
 * what it returns stays the same object while they stay the same. Throws `invalid_config` that names the entry: when it is not readable, when all
 * together would trust nearly all of an address family, or when the header cannot be one.
 */
export function parseTrust(
  entries: readonly string[],
  header = 'x-forwarded-for',
  published?: () => FrontEnds | undefined,
): ClientTrust {
  const name = header.toLowerCase()
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) {
    throw new SallyportError('invalid_config', `clientHeader: "${header}" is not the name of a header.`)
  }
  if (name === 'cloudfront-viewer-address') {
    // It glues a port to an IPv6 address with a colon, so that no reader can tell the two apart.
    throw new SallyportError('invalid_config', `clientHeader: "${header}" is ambiguous; use x-forwarded-for.`)
  }
  const named = entries.flatMap((entry) => trustedPrefixes(entry))
  const everybody = everybodyIn(named)
  if (everybody !== undefined) {
    throw new SallyportError(
      'invalid_config',
      `trustProxy: ${entries.map((entry) => `"${entry}"`).join(', ')} ${entries.length === 1 ? 'is' : 'are together'} nearly all of IPv${everybody}: it would let anybody pose as anybody.`,
    )
  }
  const shipped = createPrefixSet(named)
  let known: FrontEnds | undefined
  let proxies = shipped
  return {
    header: name,
    form: name === 'forwarded' ? 'forwarded' : name.endsWith('forwarded-for') ? 'list' : 'single',
    get proxies() {
      const now = published?.()
      if (now !== known) {
        known = now
        const newer = now && entries.flatMap((entry) => trustedPrefixes(entry, now))
        // A list that says so is wrong, no matter who published it.
        proxies = newer === undefined || everybodyIn(newer) !== undefined ? shipped : createPrefixSet(newer)
      }
      return proxies
    },
    empty: entries.length === 0,
  }
}

/** The published prefixes of a preset; for a family without any, those that are shipped. */
function trustedPrefixes(entry: string, published?: FrontEnds): readonly Prefix[] {
  const preset = TRUSTED_PROXIES.find((row) => row.preset === entry)
  if (preset === undefined) return [trustedPrefix(entry)]
  const newer = published?.get(entry) ?? []
  const families = new Set(newer.map(({ address }) => address.family))
  return [...newer, ...preset.prefixes.map(trustedPrefix).filter(({ address }) => !families.has(address.family))]
}

function trustedPrefix(entry: string): Prefix {
  const address = parseAddress(entry)
  const prefix = address === undefined ? parsePrefix(entry) : prefixOf(address, address.family === 4 ? 32 : 128)
  if (prefix === undefined) {
    const presets = suggestion(entry, TRUST_PRESETS)
    throw new SallyportError(
      'invalid_config',
      `trustProxy: "${entry}" is not an address, a CIDR range or a preset${presets}`,
    )
  }
  if (prefix.length === 0) {
    throw new SallyportError('invalid_config', `trustProxy: "${entry}" would let anybody pose as anybody.`)
  }
  return prefix
}

/**
 * The client of a request: its socket peer, or, where the peer is a trusted proxy, what the configured header says.
 * A list is walked from the right, over all its lines: trusted hops are passed over, the first other one is the
 * client, and if all are trusted it is the leftmost. So nothing that a client puts in front changes the answer.
 * An empty element is none; one that cannot be read ends the walk at the hop before it. Never throws.
 */
export function resolveClient(
  { peer, fields }: Pick<InspectionRequest, 'peer' | 'fields'>,
  trust: ClientTrust,
): ResolvedClient {
  const { address, via, malformed } = clientOf(parseZoned(peer), fields, trust)
  if (trust.empty) return { address, via, malformed, forwardedUntrusted: carriesForwarding(fields) }
  const isProxy = via === 'peer' && !malformed && address !== undefined && trust.proxies.has(address)
  const resolved = { address, via, malformed, forwardedUntrusted: false }
  return isProxy && asksForItself(fields) ? { ...resolved, isProxy } : resolved
}

/** A balancer runs no browser: where one seems to ask, the proxy forwards and does not say for whom. */
function asksForItself(fields: readonly string[]): boolean {
  if (carriesForwarding(fields)) return false
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isNamed(fields[at] as string, 'user-agent')) continue
    const userAgent = fields[at + 1] as string
    return !userAgent.startsWith('Mozilla/') || userAgent.includes('(compatible;')
  }
  return true
}

/** Whether an address is that of the machine itself: 127.0.0.0/8 or ::1. */
export function isLoopback({ family, a, b, c, d }: Address): boolean {
  return family === 4 ? d >>> 24 === 127 : (a | b | c) === 0 && d === 1
}

/** Whether a socket's peer is a trusted proxy. */
export function isTrustedPeer(peer: string, trust: ClientTrust): boolean {
  const address = trust.empty ? undefined : parseZoned(peer)
  return address !== undefined && trust.proxies.has(address)
}

function clientOf(peer: Address | undefined, fields: readonly string[], trust: ClientTrust): Client {
  if (peer === undefined) return { address: undefined, via: 'none', malformed: false }
  if (trust.empty || !trust.proxies.has(peer)) return { address: peer, via: 'peer', malformed: false }
  return trust.form === 'single' ? readOne(fields, peer, trust) : walk(fields, peer, trust)
}

/** A header that holds one address must hold it once: of two, one is forged, and nothing says which. */
function readOne(fields: readonly string[], peer: Address, trust: ClientTrust): Client {
  const lines: string[] = []
  for (let at = 0; at < fields.length; at += 2) {
    if (isNamed(fields[at] as string, trust.header)) lines.push(fields[at + 1] as string)
  }
  const address = readOnlyHop(lines)
  return address === undefined ? resolved(peer, peer, lines.length > 0) : resolved(address, peer, false)
}

function walk(fields: readonly string[], peer: Address, trust: ClientTrust): Client {
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
      if (start < 0 || hops === MAX_HOPS) return resolved(hop, peer, true)
      const element = line.slice(start, end)
      characters += end - start + 1
      end = start - 1
      if (isEmptyElement(element)) continue
      const address = quoted ? readForwarded(element) : readHop(element)
      if (address === undefined) return resolved(hop, peer, true)
      hop = address
      if (!trust.proxies.has(hop)) return resolved(hop, peer, false)
      hops++
    } while (end >= 0)
  }
  // A list of nothing names nobody.
  return resolved(hop, peer, lines > 0 && hops === 0)
}

/** `address` is the same object as `peer` where no hop was read. */
function resolved(address: Address, peer: Address, malformed: boolean): Client {
  return { address, via: address === peer ? 'peer' : 'header', malformed }
}
