import { DEGRADABLE, GRADES, PURITY_VERDICTS } from '@sallyport/core'
import { z } from 'zod'
import { AsnLabel, AsnNetworkType, CountryCode, Day, int64, Moment, NetworkClass } from './words.ts'

/** Specification: Target, the parsed input. */
export const Target = z
  .object({
    raw: z.string().meta({ description: 'The input as given.' }),
    kind: z.enum(['ipv4', 'ipv6', 'cidr', 'hostname']),
    ip: z.string().meta({ description: 'The address that was looked up; for a range, its first address.' }).optional(),
    hostname: z.string().meta({ description: 'Present for hostnames.' }).optional(),
    network: z.string().meta({ description: 'CIDR notation.' }).optional(),
    addresses: int64()
      .meta({ description: 'Number of addresses in a range; omitted for ranges of more than 65,536.' })
      .optional(),
  })
  .meta({ id: 'Target' })

export const ReservedRange = z
  .object({
    reserved: z.boolean().meta({ description: 'True when the address is not publicly routable.' }),
    label: z.string().meta({ description: 'Short name of the reserved range.' }).optional(),
    detail: z.string().meta({ description: 'Explanation, with an RFC reference.' }).optional(),
  })
  .meta({ id: 'ReservedRange' })

export const Verdict = z
  .object({
    classification: NetworkClass,
    anonymized: z.boolean(),
    confidence: z.number().min(0).max(1).meta({ format: 'float' }),
    method: z.string().meta({
      description: 'What produced the verdict: `reserved`, `ip_state`, `asn` or `range:<class>`.',
      examples: ['range:vpn', 'asn'],
    }),
  })
  .meta({ id: 'Verdict' })

/** Specification: Purity, a composite cleanliness score; higher is cleaner. */
export const Purity = z
  .object({
    score: z.int().min(0).max(100),
    grade: z.enum(GRADES),
    verdict: z.enum(PURITY_VERDICTS),
    deductions: z.array(
      z.object({
        factor: z.string(),
        points: z.int().meta({ description: 'Negative for a deduction.' }),
        detail: z.string(),
      }),
    ),
  })
  .meta({ id: 'Purity' })

/** A geolocation without the address; a field is left out when it is unknown. */
const geoFields = {
  country: z.string().meta({ description: 'Name of the country, in English.' }).optional(),
  countryCode: CountryCode.optional(),
  city: z.string().optional(),
  region: z.string().optional(),
  postalCode: z.string().optional(),
  latitude: z.number().min(-90).max(90).meta({ format: 'double' }).optional(),
  longitude: z.number().min(-180).max(180).meta({ format: 'double' }).optional(),
  timezone: z
    .string()
    .meta({ description: 'IANA zone name.', examples: ['Europe/Berlin'] })
    .optional(),
  accuracyRadius: z.int().meta({ description: 'Kilometres.' }).optional(),
}

export const GeolocationResponse = z.object({ ip: z.string(), ...geoFields }).meta({ id: 'GeolocationResponse' })

/** Specification: AsnResponse. `asn`, `name` and `country` are left out when the address is in no known network. */
export const AsnResponse = z
  .object({
    ip: z.string(),
    asn: AsnLabel.optional(),
    name: z.string().meta({ description: 'Organisation name.' }).optional(),
    type: AsnNetworkType,
    country: CountryCode.optional(),
  })
  .meta({ id: 'AsnResponse' })

export const WhoisResponse = z
  .object({
    domain: z.string(),
    registrar: z.string().optional(),
    registeredOn: Day.optional(),
    expiresOn: Day.optional(),
    lastUpdated: Day.optional(),
    nameservers: z.array(z.string()),
    status: z.array(z.string()),
    privacyProtection: z.boolean(),
  })
  .meta({ id: 'WhoisResponse' })

/** Specification: MyIPResponse. The family that the caller did not use is left out. */
export const MyIPResponse = z
  .object({
    ipv4: z.string().optional(),
    ipv6: z.string().optional(),
    ...geoFields,
    asn: AsnLabel.optional(),
    asnName: z.string().optional(),
    asnType: AsnNetworkType.optional(),
    asnCountry: CountryCode.optional(),
  })
  .meta({ id: 'MyIPResponse' })

const networkFields = {
  isTor: z.boolean(),
  networkClass: NetworkClass,
  anonymized: z.boolean().meta({ description: 'True when the class means deliberate anonymisation.' }),
  provider: z.string().meta({ description: 'Brand of the service; empty when none is known.' }),
  riskScore: z.int().min(0).max(100),
}

const ANONYMISERS = 'True only for `vpn`, `residential_proxy` and `tor`.'

export const VpnResponse = z
  .object({ ip: z.string(), isVpn: z.boolean().meta({ description: ANONYMISERS }), ...networkFields })
  .meta({ id: 'VpnResponse' })

export const ProxyResponse = z
  .object({ ip: z.string(), isProxy: z.boolean().meta({ description: ANONYMISERS }), ...networkFields })
  .meta({ id: 'ProxyResponse' })

/** A target may have so many characters. */
const MAX_TARGET_LENGTH = 4096

/** Describes the body of `POST /v1/ip/lookup`. */
export const LookupRequest = z
  .object({
    target: z
      .string()
      .max(MAX_TARGET_LENGTH)
      .meta({
        description: 'An IPv4 or IPv6 address, a CIDR range, a hostname or a URL.',
        examples: ['1.1.1.1', '2001:db8::/32', 'example.com', 'https://example.com/'],
      }),
  })
  .meta({ id: 'LookupRequest' })

/** Follows LookupResult of the specification, the combined lookup. */
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
    /** Only hostname targets have it. */
    whois: WhoisResponse.optional(),
    degraded: z.array(z.enum(DEGRADABLE)).meta({ description: 'Parts of the lookup that failed.' }),
    at: Moment,
  })
  .meta({ id: 'LookupResult' })
