import { defineRoute } from '../route.ts'
import { UserLimitsResponse } from '../schemas/account.ts'

export const userLimits = defineRoute({
  method: 'GET',
  path: '/v1/user/limits',
  example: { path: '/v1/user/limits' },
  access: { kind: 'key', metered: false },
  operationId: 'userLimits',
  tag: 'Account',
  summary: 'The allowance of the account and what is left of it.',
  description: 'Not counted. One pooled allowance for every product; the window begins on the signup day of the month.',
  errors: [401, 500],
  response: UserLimitsResponse,
  answer: 'The allowance.',
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
