import { join } from 'node:path'
import { LEDGER_CONTRACT } from '@sallyport/ledger/testing'
import t from 'tap'
import { openSqliteLedger } from '../src/index.ts'
import { temporaryFolder } from './processes.ts'

for (const row of LEDGER_CONTRACT) {
  t.test(`contract: ${row.name}`, async (t) => {
    const store = await openSqliteLedger(join(await temporaryFolder(t), 'ledger.db'))
    t.teardown(() => store.close())
    await row.run(store, t)
  })
}
