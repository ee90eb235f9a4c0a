import t from 'tap'
import { holdLedger } from '../../src/open/attestation/ledger-holder.ts'
import { parseConfig } from '../../src/open/config/read.ts'
import { freePort } from '../../src/stores/testing/index.ts'

t.test('a ledger that cannot be opened has no status, also while it is tried', async (t) => {
  const store = `postgres://nobody@127.0.0.1:${await freePort()}/none`
  const faults: unknown[] = []
  const holder = holdLedger(parseConfig({ dataDir: t.testdir(), store }), {
    clock: { now: Date.now },
    onFault: (error) => faults.push(error),
    onKeyMade() {},
    raise() {},
  })
  t.teardown(() => holder.close())
  const using = holder.use(async () => true)
  const asked = holder.status()
  await t.rejects(using, { code: 'attestation_unavailable' })
  t.equal(await asked, undefined)
  t.equal(faults.length, 1)
})
