import type { Address } from '../address/address.ts'
import { datedSource, findSource, shareLeft } from '../network/ages.ts'
import type { AgingSource, Snapshot } from '../ports/index.ts'
import type { CountryBasis, InspectedCountry, KnownCountry, WeighedCountry } from '../values/country.ts'
import type { DatedSource, NetworkFinding } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'

/** People use the addresses of these networks where they live, in the country of their registration. */
const ACCESS: readonly NetworkClass[] = ['residential_clean', 'mobile', 'residential_proxy']

/** A source names the right country for these shares of addresses, of access networks and of others. */
const RIGHT: Readonly<Record<CountryBasis, { readonly access: number; readonly other: number }>> = {
  geofeed: { access: 0.99, other: 0.99 },
  city: { access: 0.98, other: 0.9 },
  use: { access: 0.97, other: 0.75 },
  registration: { access: 0.97, other: 0.75 },
}

/** Returns the country of an address, with its source; `undefined` for reserved addresses, and where no loaded table has the address. */
export function findCountry(
  address: Address,
  { reserved, verdict }: Pick<NetworkFinding, 'reserved' | 'verdict'>,
  snapshot: Snapshot,
): InspectedCountry | undefined {
  const known = reserved.reserved ? undefined : snapshot.countries?.find(address)
  if (known === undefined) return undefined
  const weigh = () => weighCountry(known, snapshot)
  const weighed = snapshot.findings?.countries.read(known, weigh) ?? weigh()
  return weighed[ACCESS.includes(verdict.classification) ? 'access' : 'other']
}

function weighCountry(known: KnownCountry, snapshot: Snapshot): WeighedCountry {
  const source: AgingSource = findSource(snapshot, known.source) ?? { id: known.source }
  const kept = shareLeft(source, snapshot.clock?.now())
  const date = datedSource(source)?.date
  const dated = date === undefined ? known : { ...known, date }
  const weigh = (right: number) => Object.freeze({ ...dated, confidence: Math.round(right * kept * 100) / 100 })
  const { access, other } = RIGHT[known.basis]
  return { access: weigh(access), other: weigh(other) }
}

/** Returns the source of a country with its day; `undefined` where nothing says how old it is. */
export function countrySource(country: InspectedCountry | undefined): DatedSource | undefined {
  return country?.date === undefined ? undefined : { source: country.source, date: country.date }
}

/** Reports whether a country is known by a place, and not only by its registration: claims may rest on it. */
export function isByPlace({ basis }: Pick<InspectedCountry, 'basis'>): boolean {
  return basis === 'geofeed' || basis === 'city'
}
