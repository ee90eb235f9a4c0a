import { type Address, parseAddress } from '../address/address.ts'
import { type Prefix, parsePrefix, prefixOf } from '../address/prefix.ts'
import { createPrefixSet } from '../address/prefix-set.ts'
import { isCountry } from '../geo/country.ts'
import { nearestWord } from '../nearest-word.ts'
import { NETWORK_CLASSES, type NetworkClass } from '../vocabulary.ts'
import { unknown } from './fault.ts'
import { faultsOf, foldedSet, oneOf, texts, type Values, valueIndex, type WordsOf } from './match-word.ts'
import { listName } from './surroundings.ts'

/** Conditions on the network that the client's address is in. */
export interface NetworkMatch {
  /** Addresses, CIDRs, and lists of them: `list:NAME`. */
  readonly address?: readonly string[] | undefined
  readonly networkClass?: readonly NetworkClass[] | undefined
  /** Two-letter codes of the country the client's address is used in; `unknown` where it is not known. */
  readonly country?: readonly string[] | undefined
  /** Numbers of autonomous systems, and lists of them. */
  readonly asn?: readonly (number | string)[] | undefined
  /** Brands of VPN, proxy, Tor, hosting and cloud services, in any case: `iCloud Private Relay`. */
  readonly provider?: readonly string[] | undefined
}

const SYSTEMS: Values<readonly (number | string)[]> = {
  shape: 'numbers',
  faults: (given) =>
    faultsOf(given, (system) => {
      const isMeant = typeof system === 'string' ? listName(system) : Number.isSafeInteger(system) && system >= 0
      return isMeant ? undefined : unknown(system)
    }),
  matchesAll: () => false,
}

export const NETWORK_WORDS: WordsOf<NetworkMatch> = {
  address: {
    values: texts(addressFault, (given) => given.includes('0.0.0.0/0') && given.includes('::/0')),
    asks: 'agent',
    robots: false,
    index: {
      keysOf: (given) => (given.every(isNarrow) ? given.map(keyOfEntry) : undefined),
      keysFor({ client }) {
        const address = parseAddress(client.address)
        return address === undefined ? [] : [keyOf(address)]
      },
    },
    description: 'Addresses of clients, CIDRs, and lists of them as list:NAME',
    example: ['198.51.100.0/24'],
    test(given, { surroundings: { lists } }) {
      const named = given.flatMap((entry) => lists?.get(listName(entry) ?? '') ?? [])
      const own = createPrefixSet(given.filter((entry) => listName(entry) === undefined).map(prefixOfEntry))
      return ({ client }) => {
        const address = parseAddress(client.address)
        if (address === undefined) return false
        return own.has(address) || named.some((list) => list.holds(address))
      }
    },
  },
  networkClass: {
    values: oneOf(NETWORK_CLASSES),
    asks: 'asn',
    robots: false,
    description: 'Classes of networks',
    example: ['tor', 'vpn'],
    test(given) {
      const classes = new Set<string>(given)
      return ({ network }) => classes.has(network.verdict.classification)
    },
  },
  country: {
    values: texts(countryFault),
    asks: 'geo',
    robots: false,
    index: valueIndex(({ country }) => country ?? 'unknown'),
    description: 'Countries of the client, as two-letter codes; unknown where it is not known',
    example: ['DE', 'AT'],
    test(given) {
      const countries = new Set(given)
      const unknownIs = countries.has('unknown') || undefined
      return ({ country }) => (country === undefined ? unknownIs : countries.has(country))
    },
  },
  asn: {
    values: SYSTEMS,
    asks: 'asn',
    robots: false,
    index: {
      ...valueIndex(({ network }) => network.asn),
      keysOf: (given) => (given.some((system) => typeof system === 'string') ? undefined : given.map(String)),
    },
    description: 'Numbers of autonomous systems, and lists of them as list:NAME',
    example: [64_500],
    test(given, { surroundings: { lists } }) {
      const asns = new Set(given)
      const named = given.flatMap((entry) =>
        typeof entry === 'string' ? (lists?.get(listName(entry) ?? '') ?? []) : [],
      )
      return ({ network: { asn } }) => {
        if (asn === undefined) return undefined
        return asns.has(asn) || named.some((list) => list.hasSystem(asn))
      }
    },
  },
  provider: {
    values: texts((name) => (name.trim() === '' ? unknown(name) : undefined)),
    asks: 'asn',
    robots: false,
    description: 'Brands of VPN, proxy, Tor, hosting and cloud services',
    example: ['iCloud Private Relay'],
    test(given) {
      const providers = foldedSet(given)
      return ({ network }) => network.provider !== '' && providers.has(network.provider.toLowerCase())
    },
  },
}

function addressFault(entry: string): string | undefined {
  if (listName(entry)) return undefined
  const isMeant = parseAddress(entry) !== undefined || parsePrefix(entry) !== undefined
  return isMeant ? undefined : `${unknown(entry)}: expected an address, a CIDR, or list:NAME`
}

/** The entry has been checked. */
export function prefixOfEntry(entry: string): Prefix {
  const address = parseAddress(entry)
  return address === undefined ? (parsePrefix(entry) as Prefix) : prefixOf(address, address.family === 4 ? 32 : 128)
}

/** Whether all addresses of an entry have one key. */
function isNarrow(entry: string): boolean {
  if (listName(entry) !== undefined) return false
  const { address, length } = prefixOfEntry(entry)
  return length >= (address.family === 4 ? 16 : 32)
}

function keyOfEntry(entry: string): string {
  return keyOf(prefixOfEntry(entry).address)
}

/** The /16 or /32 of an address. */
function keyOf({ family, a, d }: Address): string {
  return family === 4 ? `4:${d >>> 16}` : `6:${a}`
}

/** Codes that people write for a country that has another one. */
const OTHER_CODES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' }

function countryFault(code: string): string | undefined {
  if (code === 'unknown' || isCountry(code)) return undefined
  const capitals = code.toUpperCase()
  const meant = OTHER_CODES[capitals] ?? (isCountry(capitals) ? capitals : nearestWord(code, ['unknown']))
  return (
    unknown(code) + (meant === undefined ? ': expected a two-letter code of ISO 3166-1' : `; did you mean "${meant}"?`)
  )
}
