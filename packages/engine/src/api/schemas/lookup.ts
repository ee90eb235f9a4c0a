import { DEGRADABLE, GRADES, PURITY_VERDICTS } from '@sallyport/core'
import { z } from 'zod'
import { AsnLabel, AsnNetworkType, CountryCode, Day, int64, Moment, NetworkClass, named } from './words.ts'

/** Specification: Target, the parsed input. */
export const Target = named('Target', {
  raw: z.string().meta({ description: 'The input as given.' }),
  kind: z.enum(['ipv4', 'ipv6', 'cidr', 'hostname']),
  ip: z.string().meta({ description: 'The address that was looked up; for a range, its first address.' }).optional(),
  hostname: z.string().meta({ description: 'Present for hostnames.' }).optional(),
  network: z.string().meta({ description: 'CIDR notation.' }).optional(),
  addresses: int64()
    .meta({ description: 'Number of addresses in a range; omitted for ranges of more than 65,536.' })
    .optional(),
})

export const ReservedRange = named('ReservedRange', {
  reserved: z.boolean().meta({ description: 'True when the address is not publicly routable.' }),
  label: z.string().meta({ description: 'Short name of the reserved range.' }).optional(),
  detail: z.string().meta({ description: 'Explanation, with an RFC reference.' }).optional(),
})

export const Verdict = named('Verdict', {
  classification: NetworkClass,
  anonymized: z.boolean(),
  confidence: z.number().min(0).max(1).meta({ format: 'float' }),
  method: z.string().meta({
    description: 'What produced the verdict: `reserved`, `ip_state`, `asn` or `range:<class>`.',
    examples: ['range:vpn', 'asn'],
  }),
})

/** Specification: Purity, a composite cleanliness score; higher is cleaner. */
export const Purity = named('Purity', {
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

export const GeolocationResponse = named('GeolocationResponse', { ip: z.string(), ...geoFields })

/** Specification: AsnResponse. `asn`, `name` and `country` are left out when the address is in no known network. */
export const AsnResponse = named('AsnResponse', {
  ip: z.string(),
  asn: AsnLabel.optional(),
  name: z.string().meta({ description: 'Organisation name.' }).optional(),
  type: AsnNetworkType,
  country: CountryCode.optional(),
})

export const WhoisResponse = named('WhoisResponse', {
  domain: z.string(),
  registrar: z.string().optional(),
  registeredOn: Day.optional(),
  expiresOn: Day.optional(),
  lastUpdated: Day.optional(),
  nameservers: z.array(z.string()),
  status: z.array(z.string()),
  privacyProtection: z.boolean(),
})

/** Specification: MyIPResponse. The family that the caller did not use is left out. */
export const MyIPResponse = named('MyIPResponse', {
  ipv4: z.string().optional(),
  ipv6: z.string().optional(),
  ...geoFields,
  asn: AsnLabel.optional(),
  asnName: z.string().optional(),
  asnType: AsnNetworkType.optional(),
  asnCountry: CountryCode.optional(),
})

const networkFields = {
  isTor: z.boolean(),
  networkClass: NetworkClass,
  anonymized: z.boolean().meta({ description: 'True when the class means deliberate anonymisation.' }),
  provider: z.string().meta({ description: 'Brand of the service; empty when none is known.' }),
  riskScore: z.int().min(0).max(100),
}

const ANONYMISERS = 'True only for `vpn`, `residential_proxy` and `tor`.'

export const VpnResponse = named('VpnResponse', {
  ip: z.string(),
  isVpn: z.boolean().meta({ description: ANONYMISERS }),
  ...networkFields,
})

export const ProxyResponse = named('ProxyResponse', {
  ip: z.string(),
  isProxy: z.boolean().meta({ description: ANONYMISERS }),
  ...networkFields,
})

/** A target may have so many characters. */
const MAX_TARGET_LENGTH = 4096

/** Describes the body of `POST /v1/ip/lookup`. */
export const LookupRequest = named('LookupRequest', {
  target: z
    .string()
    .max(MAX_TARGET_LENGTH)
    .meta({
      description: 'An IPv4 or IPv6 address, a CIDR range, a hostname or a URL.',
      examples: ['1.1.1.1', '2001:db8::/32', 'example.com', 'https://example.com/'],
    }),
})

/** Follows LookupResult of the specification, the combined lookup. */
export const LookupResult = named('LookupResult', {
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
