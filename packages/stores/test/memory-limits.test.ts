import { LIMITS_CONTRACT } from '@sallyport/accounts/testing'
import t from 'tap'
import { createMemoryLimits } from '../src/index.ts'

for (const row of LIMITS_CONTRACT) t.test(`contract: ${row.name}`, (t) => row.run(createMemoryLimits(), t))

t.test('the reset is the end of the window, and stays there', async (t) => {
  const limits = createMemoryLimits()
  const limit = { name: 'L', max: 1, windowSeconds: 3600 }
  const before = Math.floor(Date.now() / 1000)
  const first = await limits.take(limit, 'k')
  const second = await limits.take(limit, 'k')
  const after = Math.ceil(Date.now() / 1000)
  for (const { resetAt } of [first, second]) {
    t.ok(resetAt >= before + 3600 && resetAt <= after + 3600)
  }
  t.ok(Math.abs(first.resetAt - second.resetAt) <= 1)
})

t.test('two instances never meet', async (t) => {
  const limit = { name: 'L', max: 1, windowSeconds: 3600 }
  t.equal((await createMemoryLimits().take(limit, 'k')).allowed, true)
  t.equal((await createMemoryLimits().take(limit, 'k')).allowed, true)
})
