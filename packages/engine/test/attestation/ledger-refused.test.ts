import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { open } from '../../src/open/open.ts'
import { openHook } from '../features/notify/events.ts'
import { madeConfig } from '../open/made-sources.ts'
import { requestFrom } from '../open/requests.ts'

t.test('a start that a ledger refuses is notified before it ends', async (t) => {
  const folder = t.testdir()
  const hook = await openHook(t)
  const config = {
    ...madeConfig(folder),
    net: { allowPrivate: ['127.0.0.0/8'] },
    notify: [{ url: hook.url, on: ['ledger' as const] }],
  }
  const sallyport = await open(config, { onNotice: () => {} })
  await sallyport.provenance.attestDecision(sallyport.decide(requestFrom('8.1.0.1')), 'DE')
  await sallyport.close()
  for (const end of ['', '-wal', '-shm']) rmSync(join(folder, 'state', `ledger.db${end}`), { force: true })
  await t.rejects(open(config, { onNotice: () => {} }), { code: 'ledger_refused' })
  const [posted] = await hook.received(1)
  t.match(JSON.parse(posted?.body ?? ''), {
    kind: 'ledger',
    text: /^The ledger stores no records: .*checkpoint .* is of another ledger/s,
  })
})
