import { type Address, parseAddress } from '../../address/address.ts'
import { type Prefix, parsePrefix, prefixOf } from '../../address/prefix.ts'
import { createPrefixSet } from '../../address/prefix-set.ts'
import { isCountry } from '../../geo/country.ts'
import { nearestWord } from '../../nearest-word.ts'
import { NETWORK_CLASSES, type NetworkClass } from '../../vocabulary.ts'
import { unknown } from '../language/fault.ts'
import { listName } from '../language/surroundings.ts'
import { faultsOf, folded, foldedSet, someOf, texts, type Values } from '../language/values.ts'
import { oneWay, valueIndex, type WordsOf } from './match-word.ts'

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
}

export const NETWORK_WORDS: WordsOf<NetworkMatch> = {
  address: {
    values: texts(addressFault),
    asks: 'agent',
    robots: false,
    index: {
      waysOf: (given) => oneWay(given.map(keysOfEntry)),
      keysFor({ client }) {
        const address = parseAddress(client.address)
        return address === undefined ? [] : KEY_LENGTHS[address.family].map((length) => keyOf(address, length))
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
    values: someOf(NETWORK_CLASSES),
    asks: 'asn',
    robots: false,
    index: valueIndex(({ network }) => network.verdict.classification),
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
    mayLack: true,
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
    mayLack: true,
    robots: false,
    index: valueIndex(({ network }) => network.asn),
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
    index: valueIndex(({ network }) => network.provider, folded),
    description: 'Brands of VPN, proxy, Tor, hosting and cloud services',
    example: ['iCloud Private Relay'],
    test(given) {
      const providers = foldedSet(given)
      return ({ network }) => network.provider !== '' && providers.has(folded(network.provider))
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

/** Lengths of the prefixes that rules are found by. */
const KEY_LENGTHS = { 4: [16, 24], 6: [32, 48] } as const

/** Keys that all addresses of an entry have. */
function keysOfEntry(entry: string): readonly string[] {
  if (listName(entry) !== undefined) return []
  const { address, length } = prefixOfEntry(entry)
  return KEY_LENGTHS[address.family].filter((known) => known <= length).map((known) => keyOf(address, known))
}

function keyOf(address: Address, length: number): string {
  const { family, a, b, d } = address
  if (family === 4) return `${length} ${d >>> (32 - length)}`
  return length === 32 ? `${a}` : `${a} ${b >>> 16}`
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
