import { parseAddress } from '../address/address.ts'
import { browserFamily } from '../agent/user-agent.ts'
import { prefixKey } from '../counting/keys.ts'
import { findPlace } from '../geo/locate.ts'
import type { Snapshot } from '../ports/index.ts'
import type { Inspection } from '../values/inspection.ts'
import { HOME_NETWORKS } from '../values/visitor.ts'
import { isPlaced, placeLogin } from './travel.ts'
import type { Sighting } from './user-memory.ts'

/** Reads what the memory of a user keeps: the network, the country, the kind of browser and, for a line, the place. */
export async function sightLogin(
  inspection: Inspection,
  userAgent: string | undefined,
  snapshot: Snapshot,
  at: number,
): Promise<Sighting> {
  const address = isPlaced(inspection) ? parseAddress(inspection.client.address) : undefined
  return {
    at,
    network: networkKey(inspection),
    country: inspection.country,
    browser: browserKind(userAgent),
    place: address && placeLogin(at, inspection, await findPlace(address, snapshot)),
  }
}

/** Names the network of a login: the system of a line of people, else the prefix, since a stranger can rent a server of the same system. */
export function networkKey({ client, network }: Inspection): string | undefined {
  const { asn, verdict } = network
  return asn !== undefined && HOME_NETWORKS.has(verdict.classification) ? `AS${asn}` : prefixKey(client.address)
}

const SYSTEMS = /iPhone|iPad|Android|CrOS|Windows|Macintosh|Linux/

/** Names the family and the system of a browser, which outlive its updates; `undefined` for a request without User-Agent. */
export function browserKind(userAgent: string | undefined): string | undefined {
  if (userAgent === undefined) return undefined
  const text = userAgent.slice(0, 1_024)
  return `${browserFamily(text) ?? 'other'} ${SYSTEMS.exec(text)?.[0] ?? 'other'}`
}
