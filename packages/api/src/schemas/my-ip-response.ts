import { z } from 'zod'
import { geoFields } from './geolocation-response.ts'
import { AsnLabel, AsnNetworkType, CountryCode } from './words.ts'

/** Specification: MyIPResponse. The family that the caller did not come by is left out. */
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
export type MyIPResponse = z.output<typeof MyIPResponse>
