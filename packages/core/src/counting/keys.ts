import { type Address, formatAddress, parseAddress } from '../address/address.ts'
import { formatPrefix, prefixOf } from '../address/prefix.ts'
import type { CountKey } from '../values/counting.ts'
import type { Inspection } from '../values/inspection.ts'
import { browserOf, isSharedAddress } from './shared-address.ts'

/** The key that a request is counted under, and how many times `max` fits in. */
export interface CountBucket {
  readonly key: string
  readonly factor: number
}

/**
 * A site is commonly given a /48 of IPv6, with 65,536 networks to call from: all of them together have 16 times the limit
 * of one.
 */
export const WIDE_PREFIX = 48
export const WIDE_FACTOR = 16

/** All clients whose address is not known: they cannot be distinguished. */
const NO_ADDRESS = 'no-address'

/** A request as it is counted. */
export interface Asker {
  readonly inspection: Inspection
  /** Raw header fields, name and value by turns. */
  readonly fields: readonly string[]
  /** Bits of an IPv6 address that are one client. */
  readonly ipv6Prefix: number
}

/**
 * The buckets of a request under some keys, narrowest first, each of which must have room; none where the request has no
 * such value, as one without a user under `user`. A crawler or operator that is only claimed is counted for its client, so that
 * nobody uses up the limit of another by its name.
 */
export function countBuckets(
  keys: readonly CountKey[],
  { inspection, fields, ipv6Prefix }: Asker,
): readonly CountBucket[] {
  const named: string[] = []
  let wide: string | undefined
  for (const key of keys) {
    if (key === 'client' || (key === 'browser' && !isSharedAddress(inspection.network))) {
      const client = clientKey(inspection.client.address, ipv6Prefix)
      named.push(client.narrow)
      wide = client.wide
    } else if (key === 'browser') {
      named.push(browserKey(inspection, fields, ipv6Prefix))
    } else {
      const value = VALUES[key](inspection)
      if (value === undefined) return []
      named.push(value)
    }
  }
  const narrow = { key: named.join(' '), factor: 1 }
  if (wide === undefined) return [narrow]
  const place = keys.findIndex((key) => key === 'client' || key === 'browser')
  return [narrow, { key: named.with(place, wide).join(' '), factor: WIDE_FACTOR }]
}

/** The key that a client is counted under. */
export interface ClientKey {
  /** An IPv4 address, a network of IPv6, or one word for all whose address is not known. Never empty. */
  readonly narrow: string
  /** The /48 around it, in which `WIDE_FACTOR` times as much fits; absent where `narrow` is as wide. */
  readonly wide?: string | undefined
}

/** Finds the key of the client at an address, `''` where that is not known. `ipv6Prefix`: bits of IPv6 that are one client. */
export function clientKey(text: string, ipv6Prefix: number): ClientKey {
  if (text !== '' && !text.includes(':')) return { narrow: text }
  const address = parseAddress(text)
  if (address === undefined) return { narrow: NO_ADDRESS }
  if (address.family === 4) return { narrow: formatAddress(address) }
  if (isTranslated(address)) return { narrow: formatPrefix(prefixOf(address, 128)) }
  const narrow = formatPrefix(prefixOf(address, ipv6Prefix))
  return ipv6Prefix <= WIDE_PREFIX ? { narrow } : { narrow, wide: formatPrefix(prefixOf(address, WIDE_PREFIX)) }
}

/** Key of one browser at an address that many share. */
export function browserKey({ client }: Inspection, fields: readonly string[], ipv6Prefix: number): string {
  return `${clientKey(client.address, ipv6Prefix).narrow} browser ${browserOf(fields)}`
}

/** Whether a translator wrote it (64:ff9b::/96, 64:ff9b:1::/48): all of IPv4 is in one /64 there, and each address a client. */
function isTranslated({ a, b, c }: Address): boolean {
  return a === 0x64ff9b && ((b === 0 && c === 0) || b >>> 16 === 1)
}

const VALUES: Readonly<
  Record<Exclude<CountKey, 'client' | 'browser'>, (inspection: Inspection) => string | undefined>
> = {
  prefix: ({ client }) => prefixKey(client.address),
  asn: ({ network }) => (network.asn === undefined ? undefined : `AS${network.asn}`),
  country: ({ country }) => country,
  class: ({ agent }) => agent.class,
  operator: (inspection) => {
    const { operator, identity } = inspection.agent
    return operator && proven(operator, identity?.verified === true, inspection)
  },
  crawler: (inspection) => {
    const { crawler } = inspection
    return crawler && proven(crawler.slug, crawler.outcome === 'verified', inspection)
  },
  identity: ({ agent }) => (agent.identity?.verified === true ? agent.identity.name : undefined),
  user: ({ user }) => user,
  pass: ({ pass }) => pass?.id,
  ja4: ({ ja4 }) => ja4,
}

function proven(name: string, verified: boolean, inspection: Inspection): string {
  return verified ? name : `${name}? ${clientKey(inspection.client.address, 64).narrow}`
}

/** The /24 or /48 around an address: what is commonly announced, and given out, as one. */
function prefixKey(text: string): string | undefined {
  const address = parseAddress(text)
  return address && formatPrefix(prefixOf(address, address.family === 4 ? 24 : WIDE_PREFIX))
}
