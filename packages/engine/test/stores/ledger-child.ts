import { join } from 'node:path'
import { openPostgresLedger, openSqliteLedger } from '../../src/stores/index.ts'
import { openLedgerOn } from './ledger-place.ts'

/* A process that attests as fast as it can, and sends its parent every id that it was given; 0 where it was refused. */
const [folder = '', count = '', url = '', contextLength = ''] = process.argv.slice(2)
const CALLERS = 16
const context = contextLength === '' ? undefined : `{"a":"${'x'.repeat(Number(contextLength))}"}`

const store = await (url === '' ? openSqliteLedger(join(folder, 'ledger.db')) : openPostgresLedger(url))
const { ledger, attest } = await openLedgerOn(store, folder)
let left = count === '' ? Number.POSITIVE_INFINITY : Number(count)

async function call(): Promise<void> {
  while (left-- > 0) process.send?.(await attest(undefined, undefined, context).catch(() => 0))
}

// As in the service: signed while it goes on.
const signing = setInterval(() => void ledger.checkpoint().catch(() => {}), 100)
await Promise.all(Array.from({ length: CALLERS }, call))
clearInterval(signing)
await ledger.checkpoint()
await store.close()
process.disconnect?.()
