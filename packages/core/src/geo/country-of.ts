import type { Address } from '../address/address.ts'
import type { Snapshot } from '../ports/index.ts'
import type { CountryBasis, InspectedCountry } from '../values/country.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'

/** Networks that serve people where they live: their addresses are used where they are registered. */
const ACCESS: readonly NetworkClass[] = ['residential_clean', 'mobile', 'residential_proxy']

/** Shares of addresses of which a source names the right country, of access networks and of others. */
const RIGHT: Readonly<Record<CountryBasis, { readonly access: number; readonly other: number }>> = {
  geofeed: { access: 0.99, other: 0.99 },
  city: { access: 0.98, other: 0.9 },
  use: { access: 0.97, other: 0.75 },
  registration: { access: 0.97, other: 0.75 },
}

/** The country of an address, with its source; `undefined` for reserved addresses, and where no table that is loaded has it. */
export function countryOf(
  address: Address,
  { reserved, verdict }: Pick<NetworkFinding, 'reserved' | 'verdict'>,
  { countries }: Pick<Snapshot, 'countries'>,
): InspectedCountry | undefined {
  const known = reserved.reserved ? undefined : countries?.find(address)
  if (known === undefined) return undefined
  const confidence = RIGHT[known.basis][ACCESS.includes(verdict.classification) ? 'access' : 'other']
  return Object.freeze({ ...known, confidence })
}

/** Whether a country is known by a place, and not by whom the address was given to: what a claim may rest on. */
export function isByPlace({ basis }: Pick<InspectedCountry, 'basis'>): boolean {
  return basis === 'geofeed' || basis === 'city'
}
