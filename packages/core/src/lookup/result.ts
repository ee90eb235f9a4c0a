import type { Target } from '../address/target.ts'
import type { Geo } from '../geo/locate.ts'
import type { Purity } from '../network/purity.ts'
import type { NetworkFinding, ReservedRange, Verdict } from '../values/finding.ts'
import type { AsType, Degraded } from '../vocabulary.ts'
import type { WhoisRecord } from '../whois/whois.ts'

/** Specification: GeolocationResponse. Members that are unknown are left out. */
export interface GeoAnswer extends Geo {
  readonly ip: string
}

/** Specification: AsnResponse. `asn` (`AS<number>`), `name` and `country` are left out when unknown. */
export interface AsnAnswer {
  readonly ip: string
  readonly asn?: string | undefined
  readonly name?: string | undefined
  readonly type: AsType
  readonly country?: string | undefined
}

/** Specification: WhoisResponse. */
export interface WhoisResult extends WhoisRecord {
  readonly domain: string
}

/** Specification: LookupResult, the combined lookup of an address, a range or a hostname. */
export interface LookupResult {
  readonly target: Target
  readonly reserved: ReservedRange
  readonly verdict: Verdict
  readonly purity: Purity
  readonly isVpn: boolean
  readonly isProxy: boolean
  readonly isTor: boolean
  readonly provider: string
  /** 0 to 100: how much there is to fear from the network, by class and confidence. */
  readonly riskScore: number
  readonly networkType: AsType
  readonly geo: GeoAnswer
  /** Id of the geofeed or the table of countries that names the country; absent: a city database does, or nothing. */
  readonly geoSource?: string | undefined
  readonly asn: AsnAnswer
  /** The registration of a hostname's domain; absent for addresses, and where there is none or no answer. */
  readonly whois?: WhoisResult | undefined
  readonly degraded: readonly Degraded[]
  /** ISO 8601, UTC. */
  readonly at: string
}

/** The autonomous system of a finding as the wire shows it. */
export function asnAnswer(ip: string, finding: NetworkFinding): AsnAnswer {
  return {
    ip,
    ...(finding.asn === undefined ? {} : { asn: `AS${finding.asn}` }),
    ...(finding.asName === undefined ? {} : { name: finding.asName }),
    type: finding.asType,
    ...(finding.asCountry === undefined ? {} : { country: finding.asCountry }),
  }
}
