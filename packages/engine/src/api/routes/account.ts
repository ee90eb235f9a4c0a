import { defineRoute } from '../route.ts'
import { UserLimitsResponse } from '../schemas/account.ts'

export const userLimits = defineRoute('GET', '/v1/user/limits', {
  example: { path: '/v1/user/limits' },
  access: { kind: 'key', metered: false },
  operationId: 'userLimits',
  tag: 'Account',
  summary: 'Read the quota of the account.',
  description: 'The call is free. All products share one quota, which renews each month on the day of the signup.',
  errors: [401, 500],
  response: UserLimitsResponse,
  answer: 'The quota, and what remains of it.',
  handle(_input, { allowance }) {
    if (allowance === undefined) throw new TypeError('a keyed route has an allowance')
    const { account, window, limit, used } = allowance
    return {
      accountType: account.plan,
      limit,
      usage: used,
      remaining: Math.max(0, limit - used),
      resetDate: window.resetDate,
    }
  },
})
