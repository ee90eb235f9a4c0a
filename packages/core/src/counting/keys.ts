import { type Address, formatAddress, parseAddress } from '../address/address.ts'
import { formatPrefix, makePrefix } from '../address/prefix.ts'
import type { CountingRule, CountKey } from '../values/counting.ts'
import type { Inspection } from '../values/inspection.ts'
import { isSharedAddress, readBrowser } from './shared-address.ts'

/** A request is counted under this key, and `max` fits in it `factor` times. */
export interface CountBucket {
  readonly key: string
  readonly factor: number
}

/** A site commonly has a /48 of IPv6, with 65,536 networks to call from: all of them together have 16 times the limit of one. */
export const WIDE_PREFIX = 48
export const WIDE_FACTOR = 16

/** A subscriber line has a whole /64 of IPv6, which is one client here. */
const CLIENT_PREFIX = 64

/** Clients without a known address share a key: they cannot be distinguished. */
const NO_ADDRESS = 'no-address'

export interface Asker {
  readonly inspection: Inspection
  /** Raw header fields are names and values by turns. */
  readonly fields: readonly string[]
  /** The tool of the calls that are counted. */
  readonly tool?: string | undefined
}

/**
 * Returns the buckets of a request under some keys, narrowest first, each of which must have room; none where the request lacks a value, as
 * a request without a user under `user`. A crawler or operator that is only claimed counts for its client, so that no client uses up the
 * limit of another by its name. The identifier of an event and its user are two buckets: another spelling of an identifier opens no second
 * count of the same user.
 */
export function countBuckets(keys: readonly CountKey[], { inspection, fields, tool }: Asker): readonly CountBucket[] {
  const named: string[] = []
  let wide: string | undefined
  let place = 0
  let user: string | undefined
  for (const key of keys) {
    const caller = key === 'caller' ? callerName(inspection) : undefined
    if (isClientKey(key, inspection, caller)) {
      place = named.length
      const client = clientKey(inspection.client.address)
      named.push(client.narrow)
      wide = client.wide
    } else if (key === 'browser') {
      named.push(browserKey(inspection, fields))
    } else {
      const value = key === 'tool' ? tool : (caller ?? VALUES[key as keyof typeof VALUES](inspection))
      if (value === undefined) return []
      named.push(value)
      if (key === 'identifier') user = inspection.event?.identifiers[1]
    }
  }
  const narrow = { key: named.join(' '), factor: 1 }
  if (user !== undefined) return [narrow, { key: named.with(keys.indexOf('identifier'), user).join(' '), factor: 1 }]
  if (wide === undefined) return [narrow]
  return [narrow, { key: named.with(place, wide).join(' '), factor: WIDE_FACTOR }]
}

/** Reports whether a key is the client's address; without `caller` the request names no user or agent. */
function isClientKey(key: CountKey, { network }: Inspection, caller: string | undefined): boolean {
  if (key === 'browser') return !isSharedAddress(network)
  return key === 'client' || (key === 'caller' && caller === undefined)
}

/** Returns the name that a signature proves, else the user that the application names; never a session, because a client opens many. */
function callerName({ agent, user }: Inspection): string | undefined {
  if (agent.identity?.verified === true) return `signed ${agent.identity.name}`
  return user === undefined ? undefined : `user ${user}`
}

export interface ClientKey {
  /** Holds an IPv4 address, a network of IPv6, or one word for all clients without a known address. Never empty. */
  readonly narrow: string
  /** The /48 around it, in which `WIDE_FACTOR` times as much fits; absent for IPv4. */
  readonly wide?: string | undefined
}

/** Finds the key of the client at an address, `''` where the address is not known. */
export function clientKey(text: string): ClientKey {
  if (text !== '' && !text.includes(':')) return { narrow: text }
  const address = parseAddress(text)
  if (address === undefined) return { narrow: NO_ADDRESS }
  if (address.family === 4) return { narrow: formatAddress(address) }
  if (isTranslated(address)) return { narrow: formatPrefix(makePrefix(address, 128)) }
  return {
    narrow: formatPrefix(makePrefix(address, CLIENT_PREFIX)),
    wide: formatPrefix(makePrefix(address, WIDE_PREFIX)),
  }
}

/** Returns the key of one browser at an address that many share. */
export function browserKey({ client }: Inspection, fields: readonly string[]): string {
  return `${clientKey(client.address).narrow} browser ${readBrowser(fields)}`
}

/** Reports whether a translator wrote it (64:ff9b::/96, 64:ff9b:1::/48): a /64 there holds all of IPv4, each address a client. */
function isTranslated({ a, b, c }: Address): boolean {
  return a === 0x64ff9b && ((b === 0 && c === 0) || b >>> 16 === 1)
}

const VALUES: Readonly<
  Record<Exclude<CountKey, 'client' | 'browser' | 'tool' | 'caller'>, (inspection: Inspection) => string | undefined>
> = {
  prefix: ({ client }) => prefixKey(client.address),
  asn: ({ network }) => (network.asn === undefined ? undefined : `AS${network.asn}`),
  country: ({ country }) => country,
  class: ({ agent }) => agent.class,
  operator: (inspection) => {
    const { operator, identity } = inspection.agent
    return operator && nameProven(operator, identity?.verified === true, inspection)
  },
  crawler: (inspection) => {
    const { crawler } = inspection
    return crawler && nameProven(crawler.slug, crawler.outcome === 'verified', inspection)
  },
  identity: ({ agent }) => (agent.identity?.verified === true ? agent.identity.name : undefined),
  user: ({ user }) => user,
  pass: ({ pass }) => pass?.id,
  ja4: ({ ja4 }) => ja4,
  identifier: ({ event }) => event?.identifiers[0],
  mailDomain: ({ event }) => event?.mailDomain,
  mailStem: ({ event }) => event?.mailStem,
  likeness: ({ behaviour }) => behaviour?.likeness,
}

/** Reports whether a rule counts groups of visitors that act alike. */
export function countsGroups({ limit, concurrent }: CountingRule): boolean {
  return [limit, concurrent].some((counted) => counted?.keys.includes('likeness') === true)
}

function nameProven(name: string, verified: boolean, inspection: Inspection): string {
  return verified ? name : `${name}? ${clientKey(inspection.client.address).narrow}`
}

/** Returns the /24 or /48 around an address, which networks commonly announce and assign as one. */
export function prefixKey(text: string): string | undefined {
  const address = parseAddress(text)
  return address && formatPrefix(makePrefix(address, address.family === 4 ? 24 : WIDE_PREFIX))
}
