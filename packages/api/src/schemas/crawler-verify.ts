import { CHECK_NAMES, CHECK_STATUSES, CRAWLER_OUTCOMES } from '@sallyport/core'
import { z } from 'zod'
import { AsnLabel, CountryCode, Moment, NetworkClass } from './words.ts'

/** Specification: CrawlerVerifyRequest; snake_case, unlike its response. */
export const CrawlerVerifyRequest = z
  .object({
    ip: z.string(),
    bot: z.string().meta({ description: 'Slug of the crawler catalogue.' }).optional(),
    user_agent: z.string().meta({ description: 'User agent from the log line.' }).optional(),
  })
  .refine(({ bot, user_agent }) => bot !== undefined || user_agent !== undefined, 'give `bot` or `user_agent`')
  .meta({ id: 'CrawlerVerifyRequest' })
export type CrawlerVerifyRequest = z.output<typeof CrawlerVerifyRequest>

/** Specification: CrawlerVerifyResponse. */
export const CrawlerVerifyResponse = z
  .object({
    ip: z.string(),
    slug: z.string().optional(),
    crawler: z.string().optional(),
    userAgent: z.string().optional(),
    outcome: z.enum(CRAWLER_OUTCOMES).meta({
      description: '`spoofed`: every check that could run did, and all refuted. `unverifiable` is no accusation.',
    }),
    method: z.string().meta({ description: 'The checks that decided; left out when none did.' }).optional(),
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
  .meta({ id: 'CrawlerVerifyResponse' })
export type CrawlerVerifyResponse = z.output<typeof CrawlerVerifyResponse>
