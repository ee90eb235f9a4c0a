import {
  AGENT_CLASSES,
  CHECK_NAMES,
  CHECK_STATUSES,
  CRAWLER_OUTCOMES,
  IDENTITY_TYPES,
  PLAIN_ACTIONS,
} from '@sallyport/core'
import { z } from 'zod'
import { AsnLabel, CountryCode, Moment, NetworkClass, named } from './words.ts'

/** Follows CrawlerVerifyRequest of the specification: snake_case, unlike its response. */
export const CrawlerVerifyRequest = z
  .object({
    ip: z.string(),
    bot: z.string().meta({ description: 'Slug of the crawler in the catalogue.' }).optional(),
    user_agent: z.string().meta({ description: 'User agent from the log line.' }).optional(),
  })
  .refine(({ bot, user_agent }) => bot !== undefined || user_agent !== undefined, 'give `bot` or `user_agent`')
  .meta({ id: 'CrawlerVerifyRequest' })
export type CrawlerVerifyRequest = z.output<typeof CrawlerVerifyRequest>

export const CrawlerVerifyResponse = named('CrawlerVerifyResponse', {
  ip: z.string(),
  slug: z.string().optional(),
  crawler: z.string().optional(),
  userAgent: z.string().optional(),
  outcome: z.enum(CRAWLER_OUTCOMES).meta({
    description: '`spoofed`: every check that could run refuted the claim. `unverifiable` accuses nobody.',
  }),
  method: z.string().meta({ description: 'The checks that decided; omitted if none did.' }).optional(),
  summary: z.string(),
  checks: z.array(z.object({ name: z.enum(CHECK_NAMES), status: z.enum(CHECK_STATUSES), detail: z.string() })),
  networkOrigin: NetworkClass,
  anonymized: z.boolean(),
  asn: AsnLabel.optional(),
  asnName: z.string().optional(),
  country: CountryCode.optional(),
  hostname: z.string().optional(),
  docs: z.string().optional(),
  checkedAt: Moment,
})

export const AgentscanCheckRequest = named('AgentscanCheckRequest', {
  ip: z.string(),
  request_id: z.string().optional(),
  user_agent: z.string().optional(),
  ja4: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  headless_flags: z.record(z.string(), z.boolean()).optional(),
})
export type AgentscanCheckRequest = z.output<typeof AgentscanCheckRequest>

/** The specification names the signals without types. Each signal is always there, null when unknown; it permits further ones: `reasons`. */
const Signals = z.object({
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
  reasons: z
    .array(z.object({ id: z.string(), weight: z.number().optional(), text: z.string() }))
    .meta({ description: 'Signals that the verdict rests on.' }),
})

export const AgentscanCheckResponse = named('AgentscanCheckResponse', {
  class: z.enum(AGENT_CLASSES),
  confidence: z.number().min(0).max(1).meta({ format: 'float' }),
  action: z.enum(PLAIN_ACTIONS),
  signals: Signals,
})
export type AgentscanCheckResponse = z.output<typeof AgentscanCheckResponse>
