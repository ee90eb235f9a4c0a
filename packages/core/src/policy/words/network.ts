import { type Address, parseAddress } from '../../address/address.ts'
import { parseHostOrPrefix } from '../../address/prefix.ts'
import { createPrefixSet } from '../../address/prefix-set.ts'
import { isCountry } from '../../geo/country.ts'
import { nearestWord } from '../../nearest-word.ts'
import type { Inspection } from '../../values/inspection.ts'
import { NETWORK_CLASSES } from '../../vocabulary.ts'
import type { Asked } from '../language/asked.ts'
import { unknown } from '../language/fault.ts'
import { findLists, listName } from '../language/surroundings.ts'
import { anyWord, collectFaults, foldedSet, texts, type Values } from '../language/values.ts'
import { testValue, word } from './match-word.ts'

const SYSTEMS: Values<readonly (number | string)[]> = {
  shape: 'numbers',
  faults: (given) =>
    collectFaults(given, (system) => {
      const isMeant = typeof system === 'string' ? listName(system) : Number.isSafeInteger(system) && system >= 0
      return isMeant ? undefined : unknown(system)
    }),
}

const PROVIDERS = texts((name) => (name.trim() === '' ? unknown(name) : undefined))

/** Holds conditions on the network of the client's address. */
export const NETWORK_WORDS = {
  address: word('Client addresses, CIDRs, or list:NAME', texts(addressFault), {
    asks: 'agent',
    example: ['198.51.100.0/24'],
    test(given, { surroundings }) {
      const named = findLists(given, surroundings)
      const own = createPrefixSet(given.flatMap((entry) => parseHostOrPrefix(entry) ?? []))
      return (inspection, asked) => {
        const address = asked.once(readAddress, inspection)
        if (address === undefined) return false
        return own.has(address) || named.some((list) => list.holds(address))
      }
    },
  }),
  networkClass: word('Network classes', anyWord(NETWORK_CLASSES), {
    asks: 'asn',
    example: ['tor', 'vpn'],
    test: (given) => testValue(given, ({ network }) => network.verdict.classification),
  }),
  /** Matches two-letter codes of the country where the client's address is used; `unknown` where it is not known. */
  country: word('Client countries, as two-letter codes or unknown', texts(countryFault), {
    asks: 'geo',
    mayLack: true,
    example: ['DE', 'AT'],
    test(given) {
      const countries = new Set(given)
      const unknownIs = countries.has('unknown') || undefined
      return ({ country }) => (country === undefined ? unknownIs : countries.has(country))
    },
  }),
  asn: word('AS numbers, or list:NAME', SYSTEMS, {
    asks: 'asn',
    mayLack: true,
    example: [64_500],
    test(given, { surroundings }) {
      const asns = new Set(given)
      const named = findLists(given, surroundings)
      return ({ network: { asn } }) => {
        if (asn === undefined) return undefined
        return asns.has(asn) || named.some((list) => list.hasSystem(asn))
      }
    },
  }),
  /** Matches brands of VPN, proxy, Tor, hosting and cloud services, in any case: `iCloud Private Relay`. */
  provider: word('VPN, proxy, Tor, hosting and cloud providers', PROVIDERS, {
    asks: 'asn',
    example: ['iCloud Private Relay'],
    test(given) {
      const providers = foldedSet(given)
      return ({ network }) => network.provider !== '' && providers.has(network.provider.toLowerCase())
    },
  }),
}

function readAddress(_: Asked, { client }: Inspection): Address | undefined {
  return parseAddress(client.address)
}

function addressFault(entry: string): string | undefined {
  return listName(entry) || parseHostOrPrefix(entry)
    ? undefined
    : `${unknown(entry)}: expected an address, a CIDR, or list:NAME`
}

/** People write these codes for countries that have another. */
const OTHER_CODES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' }

function countryFault(code: string): string | undefined {
  if (code === 'unknown' || isCountry(code)) return undefined
  const capitals = code.toUpperCase()
  const meant = OTHER_CODES[capitals] ?? (isCountry(capitals) ? capitals : nearestWord(code, ['unknown']))
  return unknown(code) + (meant === undefined ? ': expected a country code (ISO 3166-1)' : `; did you mean "${meant}"?`)
}
