import { z } from 'zod'
import { AsnLabel, AsnNetworkType, CountryCode } from './words.ts'

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
export type AsnResponse = z.output<typeof AsnResponse>
