import type { Target } from '../address/target.ts'
import type { Geo } from '../geo/locate.ts'
import type { Purity } from '../network/purity.ts'
import type { DatedSource, NetworkFinding, ReservedRange, Verdict } from '../values/finding.ts'
import type { AsType, Degraded } from '../vocabulary.ts'
import type { WhoisRecord } from '../whois/whois.ts'

/** Names the system of an address (specification: AsnResponse). Unknown `asn` (`AS<number>`), `name` and `country` are left out. */
export interface AsnAnswer {
  readonly ip: string
  readonly asn?: string | undefined
  readonly name?: string | undefined
  readonly type: AsType
  readonly country?: string | undefined
}

/** Answers the combined lookup of an address, a range or a hostname (specification: LookupResult). */
export interface LookupResult {
  readonly target: Target
  readonly reserved: ReservedRange
  readonly verdict: Verdict
  readonly purity: Purity
  readonly isVpn: boolean
  readonly isProxy: boolean
  readonly isTor: boolean
  readonly provider: string
  /** Rates the risk of the network from 0 to 100, by class and confidence. */
  readonly riskScore: number
  readonly networkType: AsType
  /** The place of the address (specification: GeolocationResponse). Unknown members are left out. */
  readonly geo: Geo & { readonly ip: string }
  /** The geofeed or the table of countries that names the country, by its id; absent where a city database names it, or nothing. */
  readonly geoSource?: string | undefined
  readonly asn: AsnAnswer
  /** The registration of a hostname's domain (specification: WhoisResponse); absent for addresses, and where there is none or no answer. */
  readonly whois?: (WhoisRecord & { readonly domain: string }) | undefined
  /** The oldest source that the answer rests on, and the day on which it was last known to be true; absent where that is unknown. */
  readonly oldest?: DatedSource | undefined
  readonly degraded: readonly Degraded[]
  /** ISO 8601, UTC. */
  readonly at: string
}

/** Writes the autonomous system of a finding as API responses have it. */
export function asnAnswer(ip: string, finding: NetworkFinding): AsnAnswer {
  return {
    ip,
    ...(finding.asn === undefined ? {} : { asn: `AS${finding.asn}` }),
    ...(finding.asName === undefined ? {} : { name: finding.asName }),
    type: finding.asType,
    ...(finding.asCountry === undefined ? {} : { country: finding.asCountry }),
  }
}
