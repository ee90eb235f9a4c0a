import { z } from 'zod'
import { Day } from './words.ts'

/** Specification: WhoisResponse. */
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
export type WhoisResponse = z.output<typeof WhoisResponse>
