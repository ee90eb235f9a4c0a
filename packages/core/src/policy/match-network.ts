import { isCountry } from '../geo/country.ts'
import { nearestWord } from '../nearest-word.ts'
import { NETWORK_CLASSES, type NetworkClass } from '../vocabulary.ts'
import { unknown } from './fault.ts'
import { faultsOf, foldedSet, oneOf, texts, type Values, type WordsOf } from './match-word.ts'

/** Conditions on the network that the client's address is in. */
export interface NetworkMatch {
  readonly networkClass?: readonly NetworkClass[] | undefined
  /** Two-letter codes of the country the client's address is used in; `unknown` where it is not known. */
  readonly country?: readonly string[] | undefined
  readonly asn?: readonly number[] | undefined
  /** Brands of VPN, proxy, Tor, hosting and cloud services, in any case: `iCloud Private Relay`. */
  readonly provider?: readonly string[] | undefined
}

const NUMBERS: Values<readonly number[]> = {
  shape: 'numbers',
  faults: (given) =>
    faultsOf(given, (number) => (Number.isSafeInteger(number) && number >= 0 ? undefined : unknown(number))),
  matchesAll: () => false,
}

export const NETWORK_WORDS: WordsOf<NetworkMatch> = {
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
    description: 'Countries of the client, as two-letter codes; unknown where it is not known',
    example: ['DE', 'AT'],
    test(given) {
      const countries = new Set(given)
      return (inspection) => countries.has(inspection.country ?? 'unknown')
    },
  },
  asn: {
    values: NUMBERS,
    asks: 'asn',
    robots: false,
    description: 'Numbers of autonomous systems',
    example: [64_500],
    test(given) {
      const asns = new Set(given)
      return ({ network }) => network.asn !== undefined && asns.has(network.asn)
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
