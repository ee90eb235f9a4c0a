import { z } from 'zod'
import { Action } from './words.ts'

/** Specification: AgentscanCheckRequest (snake_case). */
export const AgentscanCheckRequest = z
  .object({
    ip: z.string(),
    request_id: z.string().optional(),
    user_agent: z.string().optional(),
    ja4: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    headless_flags: z.record(z.string(), z.boolean()).optional(),
  })
  .meta({ id: 'AgentscanCheckRequest' })
export type AgentscanCheckRequest = z.output<typeof AgentscanCheckRequest>

/** A signal that the specification names without a type; every one is always there, null when it cannot be known. */
const Signal = z.unknown().meta({ 'x-unspecified': true })

/** Specification: AgentscanCheckResponse (snake_case). */
export const AgentscanCheckResponse = z
  .object({
    class: z.string().meta({ 'x-unspecified': true }),
    confidence: z.number().min(0).max(1).meta({ format: 'float' }),
    action: Action,
    signals: z.looseObject({
      network_origin: Signal,
      anonymized: Signal,
      headless: Signal,
      headless_flags: Signal,
      header_consistency: Signal,
      ai_crawler: Signal,
      ai_ident: Signal,
      ai_vendor: Signal,
      allowlist_type: Signal,
      allowlist_verified: Signal,
      ja4: Signal,
    }),
  })
  .meta({ id: 'AgentscanCheckResponse' })
export type AgentscanCheckResponse = z.output<typeof AgentscanCheckResponse>
