import { parseAddress } from '../address/address.ts'
import { formatPrefix, prefixOf } from '../address/prefix.ts'
import type { CountKey } from '../values/counting.ts'
import type { Inspection } from '../values/inspection.ts'

/** The key that a request is counted under, and how many times `max` fits in. */
export interface CountBucket {
  readonly key: string
  readonly factor: number
}

/**
 * A site is commonly given a /48 of IPv6, with 65,536 networks to call from: all of them together have 16 times the limit
 * of one (D45).
 */
const WIDE_PREFIX = 48
export const WIDE_FACTOR = 16

/** All requests whose client is not known: they cannot be distinguished. */
const NO_ADDRESS = 'no-address'

/**
 * The buckets of a request under some keys, narrowest first, each of which must have room; none where the request has no
 * such value, as one without a user under `user`. A crawler or operator that is only claimed is counted for its client, so that
 * nobody uses up the limit of another by its name (D176).
 */
export function countBuckets(
  keys: readonly CountKey[],
  inspection: Inspection,
  ipv6Prefix: number,
): readonly CountBucket[] {
  const named: string[] = []
  let wide: string | undefined
  for (const key of keys) {
    if (key === 'client') {
      const client = clientKeys(inspection, ipv6Prefix)
      named.push(client.narrow)
      wide = client.wide
    } else {
      const value = VALUES[key](inspection)
      if (value === undefined) return []
      named.push(value)
    }
  }
  const narrow = { key: named.join(' '), factor: 1 }
  if (wide === undefined) return [narrow]
  const place = keys.indexOf('client')
  return [narrow, { key: named.with(place, wide).join(' '), factor: WIDE_FACTOR }]
}

/** The client as it is counted: an IPv4 address, a network of IPv6, and the wider one around it. */
export function clientKeys(
  { client }: Inspection,
  ipv6Prefix: number,
): { readonly narrow: string; readonly wide?: string } {
  const { address: text } = client
  if (text === '') return { narrow: NO_ADDRESS }
  if (!text.includes(':')) return { narrow: text }
  const address = parseAddress(text)
  if (address === undefined) return { narrow: text }
  const narrow = formatPrefix(prefixOf(address, ipv6Prefix))
  return ipv6Prefix <= WIDE_PREFIX ? { narrow } : { narrow, wide: formatPrefix(prefixOf(address, WIDE_PREFIX)) }
}

const VALUES: Readonly<Record<Exclude<CountKey, 'client'>, (inspection: Inspection) => string | undefined>> = {
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
}

function proven(name: string, verified: boolean, inspection: Inspection): string {
  return verified ? name : `${name}? ${clientKeys(inspection, 64).narrow}`
}

/** The /24 or /48 around an address: what is commonly announced, and given out, as one. */
function prefixKey(text: string): string | undefined {
  const address = parseAddress(text)
  return address && formatPrefix(prefixOf(address, address.family === 4 ? 24 : WIDE_PREFIX))
}
