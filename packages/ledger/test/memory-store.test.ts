import t from 'tap'
import { createMemoryLedger, LEDGER_CONTRACT } from '../src/testing/index.ts'

for (const row of LEDGER_CONTRACT) {
  t.test(`contract: ${row.name}`, (t) => row.run(createMemoryLedger('sallyport/0123456789abcdef'), t))
}
