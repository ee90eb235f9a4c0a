import { z } from 'zod'
import { AsnResponse } from './asn-response.ts'
import { GeolocationResponse } from './geolocation-response.ts'
import { ReservedRange, Verdict } from './network-verdict.ts'
import { Purity } from './purity.ts'
import { Target } from './target.ts'
import { WhoisResponse } from './whois-response.ts'
import { AsnNetworkType, Degraded, Moment } from './words.ts'

/** The longest target that is read. */
const LONGEST_TARGET = 4096

/** The body of `POST /v1/ip/lookup`. */
export const LookupRequest = z
  .object({
    target: z
      .string()
      .max(LONGEST_TARGET)
      .meta({
        description: 'An IPv4 or IPv6 address, a CIDR range, a hostname or a URL.',
        examples: ['1.1.1.1', '2001:db8::/32', 'example.com', 'https://example.com/'],
      }),
  })
  .meta({ id: 'LookupRequest' })
export type LookupRequest = z.output<typeof LookupRequest>

/** Specification: LookupResult, the combined lookup. */
export const LookupResult = z
  .object({
    target: Target,
    reserved: ReservedRange,
    verdict: Verdict,
    purity: Purity,
    isVpn: z.boolean(),
    isProxy: z.boolean(),
    isTor: z.boolean(),
    provider: z.string(),
    riskScore: z.int().min(0).max(100),
    networkType: AsnNetworkType,
    geo: GeolocationResponse,
    asn: AsnResponse,
    /** Present for hostname targets. */
    whois: WhoisResponse.optional(),
    degraded: z.array(Degraded).meta({ description: 'Sub-lookups that failed.' }),
    at: Moment,
  })
  .meta({ id: 'LookupResult' })
export type LookupResult = z.output<typeof LookupResult>
