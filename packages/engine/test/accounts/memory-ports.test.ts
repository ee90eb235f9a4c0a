import t from 'tap'
import { createMemoryAccounts } from '#accounts'
import { ACCOUNT, ACCOUNTS_CONTRACT } from './contract.ts'
import { createFaultyAccounts } from './faulty.ts'

for (const row of ACCOUNTS_CONTRACT) t.test(`accounts: ${row.name}`, (t) => row.run(createMemoryAccounts(), t))

t.test('a fault rejects, whether it was applied or not', async (t) => {
  let apply = false
  const accounts = createFaultyAccounts((operation) =>
    operation === 'createAccount' ? { apply, error: new Error('the store is down') } : undefined,
  )
  await t.rejects(accounts.createAccount(ACCOUNT), /down/)
  t.equal(await accounts.findAccount(ACCOUNT.id), undefined)
  apply = true
  await t.rejects(accounts.createAccount(ACCOUNT), /down/)
  t.same(await accounts.findAccount(ACCOUNT.id), ACCOUNT)
})
