import { z } from 'zod'

/** Specification: ErrorResponse. */
export const ErrorResponse = z
  .object({
    error: z.string().meta({ description: 'Machine code.', examples: ['invalid_ip'] }),
    message: z.string().meta({ description: 'For people.' }),
    details: z.unknown().optional(),
  })
  .meta({ id: 'ErrorResponse' })
export type ErrorResponse = z.output<typeof ErrorResponse>

/** The ErrorResponse of a 429. */
export const RateLimitResponse = ErrorResponse.extend({
  retryAfter: z.int().meta({ description: 'Seconds.' }),
}).meta({ id: 'RateLimitResponse' })
export type RateLimitResponse = z.output<typeof RateLimitResponse>
