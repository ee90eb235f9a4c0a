import { join } from 'node:path'
import { createCommitter } from '@sallyport/ledger'
import { madeDraft } from '@sallyport/ledger/testing'
import { openSqliteLedger } from '../../src/stores/index.ts'

/* A process that writes its ledger as fast as it can, and exits without closing it: as an application does. */
const [folder = '', ms] = process.argv.slice(2)
const store = await openSqliteLedger(join(folder, 'ledger.db'))
setTimeout(() => process.exit(7), Number(ms))
const committer = createCommitter(store)
for (;;) await committer.commit(Array.from({ length: 400 }, () => madeDraft('t/a')))
