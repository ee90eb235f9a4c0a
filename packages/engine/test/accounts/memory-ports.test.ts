import t from 'tap'
import { createMemoryAccounts } from '#accounts'
import { ACCOUNTS_CONTRACT } from './contract.ts'

for (const row of ACCOUNTS_CONTRACT) t.test(`accounts: ${row.name}`, (t) => row.run(createMemoryAccounts(), t))
