import type { Address } from '../address/address.ts'
import type { Client } from '../address/client.ts'
import { countryOf } from '../geo/country-of.ts'
import { classify, NOTHING_KNOWN } from '../network/classify.ts'
import type { Observation, Snapshot } from '../ports/index.ts'
import type { InspectedCountry } from '../values/country.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { InspectedClient } from '../values/inspection.ts'

/** All that is known of a visitor by the address. */
export interface Visitor {
  readonly address: Address | undefined
  readonly client: InspectedClient
  readonly network: NetworkFinding
  /** Country of the address; absent when unknown. */
  readonly country: InspectedCountry | undefined
  /** Tables of countries are loaded, and none has it. */
  readonly countryUnknown: boolean
  /** Observation of the address when the rest was looked up. */
  readonly observation: Observation | undefined
}

export function observationOf(address: Address | undefined, { observations }: Snapshot): Observation | undefined {
  return address === undefined ? undefined : observations?.find(address)
}

/** Looks up all that an address says. `text` is the address in canonical form. */
export function visitorOf({ address, via, malformed, isProxy }: Client, text: string, snapshot: Snapshot): Visitor {
  // Asked for first: where it expires while the rest is looked up, the next request looks again.
  const observation = observationOf(address, snapshot)
  const network = address === undefined ? NOTHING_KNOWN : classify(address, snapshot)
  const country = address === undefined ? undefined : countryOf(address, network, snapshot)
  const isAsked = address !== undefined && !network.reserved.reserved && snapshot.countries !== undefined
  const client = Object.freeze({ address: text, via, malformed, ...(isProxy && { isProxy }) })
  return { address, client, network, country, countryUnknown: isAsked && country === undefined, observation }
}
