import { z } from 'zod'
import { NetworkClass } from './words.ts'

/** Specification: ReservedRange. */
export const ReservedRange = z
  .object({
    reserved: z.boolean().meta({ description: 'True when the address is not publicly routable.' }),
    label: z.string().meta({ description: 'Short name of the reserved range.' }).optional(),
    detail: z.string().meta({ description: 'Explanation, with an RFC reference.' }).optional(),
  })
  .meta({ id: 'ReservedRange' })
export type ReservedRange = z.output<typeof ReservedRange>

/** Specification: Verdict. */
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
export type Verdict = z.output<typeof Verdict>
