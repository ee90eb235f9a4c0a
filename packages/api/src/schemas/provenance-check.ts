import { ACTIONS } from '@sallyport/core'
import { z } from 'zod'
import { int64, NetworkClass } from './words.ts'

/** A JSON object as it was sent: a schema with members would drop those with names such as `__proto__`. */
const FreeForm = z
  .custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .meta({ override: { type: 'object' } })

/** Specification: ProvenanceCheckRequest (snake_case). */
export const ProvenanceCheckRequest = z
  .object({
    ip: z.string(),
    claimed_jurisdiction: z.string().meta({
      description: 'A country code (ISO 3166-1, two letters), or a group of the policy, such as EU.',
      examples: ['DE'],
    }),
    request_context: FreeForm.optional(),
  })
  .meta({ id: 'ProvenanceCheckRequest' })
export type ProvenanceCheckRequest = z.output<typeof ProvenanceCheckRequest>

/** Specification: ProvenanceCheckResponse (snake_case). */
export const ProvenanceCheckResponse = z
  .object({
    network_origin: NetworkClass,
    anonymized: z.boolean(),
    method: z.string(),
    confidence: z.number().min(0).max(1).meta({ format: 'float' }),
    policy_action: z.enum(ACTIONS).meta({ 'x-unspecified': true }),
    attestation_id: int64(),
  })
  .meta({ id: 'ProvenanceCheckResponse' })
export type ProvenanceCheckResponse = z.output<typeof ProvenanceCheckResponse>
