import { AGENT_CLASSES, IDENTITY_TYPES } from '@sallyport/core'
import { z } from 'zod'
import { Action, NetworkClass } from './words.ts'

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

/** The specification names the signals and gives no types; every one is always there, null when it cannot be known. */
const Signals = z
  .looseObject({
    network_origin: NetworkClass.nullable(),
    anonymized: z.boolean().nullable(),
    headless: z.boolean().nullable(),
    headless_flags: z.record(z.string(), z.boolean()).nullable(),
    header_consistency: z.number().min(0).max(1).nullable(),
    ai_crawler: z.boolean().nullable(),
    ai_ident: z.string().nullable(),
    ai_vendor: z.string().nullable(),
    allowlist_type: z.enum(IDENTITY_TYPES).nullable(),
    allowlist_verified: z.boolean().nullable(),
    ja4: z.string().nullable(),
  })
  .meta({ description: 'Beside these `reasons`: what the verdict rests on, each with id, weight and text.' })

/** Specification: AgentscanCheckResponse (snake_case). */
export const AgentscanCheckResponse = z
  .object({
    class: z.enum(AGENT_CLASSES),
    confidence: z.number().min(0).max(1).meta({ format: 'float' }),
    action: Action,
    signals: Signals,
  })
  .meta({ id: 'AgentscanCheckResponse' })
export type AgentscanCheckResponse = z.output<typeof AgentscanCheckResponse>
