import { z } from 'zod'
import { int64, NetworkClass } from './words.ts'

/** Specification: ProvenanceCheckRequest (snake_case). */
export const ProvenanceCheckRequest = z
  .object({
    ip: z.string(),
    claimed_jurisdiction: z.string().meta({ description: 'A country code.' }),
    request_context: z.looseObject({}).optional(),
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
    policy_action: z.string().meta({ 'x-unspecified': true }),
    attestation_id: int64(),
  })
  .meta({ id: 'ProvenanceCheckResponse' })
export type ProvenanceCheckResponse = z.output<typeof ProvenanceCheckResponse>
