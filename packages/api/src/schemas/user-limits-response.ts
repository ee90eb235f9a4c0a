import { PLAN_NAMES } from '@sallyport/accounts'
import { z } from 'zod'
import { Day } from './words.ts'

/** Specification: UserLimitsResponse. */
export const UserLimitsResponse = z
  .object({
    accountType: z.string().meta({ description: 'Name of the plan.', examples: [...PLAN_NAMES] }),
    limit: z.int().meta({
      description: 'Monthly allowance, pooled across all products; 9007199254740991 is unlimited.',
    }),
    usage: z.int(),
    remaining: z.int(),
    resetDate: Day.meta({ description: 'First day of the next billing window, UTC.' }),
  })
  .meta({ id: 'UserLimitsResponse' })
export type UserLimitsResponse = z.output<typeof UserLimitsResponse>
