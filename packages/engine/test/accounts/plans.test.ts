import t from 'tap'
import { ALLOWANCES, isPlanName, PLAN_NAMES } from '../../src/accounts/index.ts'

t.test('the allowance of each plan', async (t) => {
  t.same(ALLOWANCES, { free: 30000, starter: 150000, pro: 500000, business: 2000000, enterprise: 9007199254740991 })
  t.same(Object.keys(ALLOWANCES), PLAN_NAMES)
  t.equal(Number.isSafeInteger(ALLOWANCES.enterprise), true)
  for (const name of PLAN_NAMES) t.equal(isPlanName(name), true)
  for (const name of ['', 'Free', 'gold', 'toString', '__proto__']) t.equal(isPlanName(name), false, name)
})
