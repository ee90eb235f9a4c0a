import t from 'tap'
import {
  ACCOUNT,
  ACCOUNTS_CONTRACT,
  createMemoryAccounts,
  createMemoryLimits,
  LIMITS_CONTRACT,
} from '../src/testing/index.ts'

for (const row of ACCOUNTS_CONTRACT) t.test(`accounts: ${row.name}`, (t) => row.run(createMemoryAccounts(), t))
for (const row of LIMITS_CONTRACT)
  t.test(`limits: ${row.name}`, (t) =>
    row.run(
      createMemoryLimits(() => 0),
      t,
    ),
  )

t.test('a fault rejects, whether it was applied or not', async (t) => {
  let apply = false
  const accounts = createMemoryAccounts((operation) =>
    operation === 'createAccount' ? { apply, error: new Error('the store is down') } : undefined,
  )
  await t.rejects(accounts.createAccount(ACCOUNT), /down/)
  t.equal(await accounts.findAccount(ACCOUNT.id), undefined)
  apply = true
  await t.rejects(accounts.createAccount(ACCOUNT), /down/)
  t.same(await accounts.findAccount(ACCOUNT.id), ACCOUNT)
})

t.test('a window ends on its clock', async (t) => {
  let now = 0
  const limits = createMemoryLimits(() => now)
  const limit = { name: 'L', max: 1, windowSeconds: 60 }
  t.same(await limits.take(limit, 'k'), { allowed: true, limit: 1, remaining: 0, resetAt: 60 })
  now = 59_999
  t.same(await limits.take(limit, 'k'), { allowed: false, limit: 1, remaining: 0, resetAt: 60 })
  now = 60_000
  t.same(await limits.take(limit, 'k'), { allowed: true, limit: 1, remaining: 0, resetAt: 120 })
})
