import type { Address } from '../address/address.ts'
import type { Client } from '../address/client.ts'
import { findCountry } from '../geo/find-country.ts'
import { classify, NOTHING_KNOWN } from '../network/classify.ts'
import type { Observation, Snapshot } from '../ports/index.ts'
import { locateRegion } from '../region/locate-region.ts'
import type { InspectedCountry } from '../values/country.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { InspectedClient } from '../values/inspection.ts'
import type { InspectedRegion } from '../values/region.ts'

/** Holds all that is known of a visitor by the address. */
export interface Visitor {
  readonly address: Address | undefined
  readonly client: InspectedClient
  readonly network: NetworkFinding
  /** The address has this country; absent when unknown. */
  readonly country: InspectedCountry | undefined
  /** Tables of countries are loaded, and none has the address. */
  readonly countryUnknown: boolean
  /** Absent where no data of regions is open. */
  readonly region: InspectedRegion | undefined
  /** The address had this observation when the rest was looked up. */
  readonly observation: Observation | undefined
}

export function findObservation(address: Address | undefined, { observations }: Snapshot): Observation | undefined {
  return address === undefined ? undefined : observations?.find(address)
}

/** Looks up all that is known of an address. `text` is the address in canonical form. */
export function describeVisitor(
  { address, via, malformed, isProxy }: Client,
  text: string,
  snapshot: Snapshot,
): Visitor {
  // The observation is read first: if it expires during the lookup, the next request looks again.
  const observation = findObservation(address, snapshot)
  const network = address === undefined ? NOTHING_KNOWN : classify(address, snapshot)
  const country = address === undefined ? undefined : findCountry(address, network, snapshot)
  const region = locateRegion(address, network, snapshot)
  const isAsked = address !== undefined && !network.reserved.reserved && snapshot.countries !== undefined
  const client = Object.freeze({ address: text, via, malformed, ...(isProxy && { isProxy }) })
  const countryUnknown = isAsked && country === undefined
  return { address, client, network, country, countryUnknown, region, observation }
}
