import { z } from 'zod'
import { ALLOWANCES } from '#accounts'
import { Day, named } from './words.ts'

export const UserLimitsResponse = named('UserLimitsResponse', {
  accountType: z.string().meta({ description: 'Name of the plan.', examples: Object.keys(ALLOWANCES) }),
  limit: z.int().meta({
    description: 'Monthly allowance, pooled across all products; 9007199254740991 is unlimited.',
  }),
  usage: z.int(),
  remaining: z.int(),
  resetDate: Day.meta({ description: 'First day of the next billing window, UTC.' }),
})

export const ErrorResponse = named('ErrorResponse', {
  error: z.string().meta({ description: 'Machine code.', examples: ['invalid_ip'] }),
  message: z.string().meta({ description: 'Text for people.' }),
  details: z.unknown().optional(),
})
export type ErrorResponse = z.output<typeof ErrorResponse>

/** The ErrorResponse of a 429 says when to retry. */
export const RateLimitResponse = ErrorResponse.extend({
  retryAfter: z.int().meta({ description: 'Seconds.' }),
}).meta({ id: 'RateLimitResponse' })
export type RateLimitResponse = z.output<typeof RateLimitResponse>
