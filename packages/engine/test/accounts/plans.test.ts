import t from 'tap'
import { ALLOWANCES, findAllowance, mergePlans } from '../../src/accounts/index.ts'

t.test('the allowance of each plan', async (t) => {
  t.same(ALLOWANCES, { free: 30000, starter: 150000, pro: 500000, business: 2000000, enterprise: 9007199254740991 })
  t.equal(Number.isSafeInteger(ALLOWANCES.enterprise), true)
  const plans = mergePlans({ free: 1_000, team: 250_000, own: 'unlimited' })
  t.same(plans, { ...ALLOWANCES, free: 1_000, team: 250_000, own: ALLOWANCES.enterprise })
  for (const name of ['', 'Free', 'gold', 'toString', '__proto__']) t.equal(findAllowance(plans, name), 1_000, name)
  t.equal(findAllowance(plans, 'team'), 250_000)
})
