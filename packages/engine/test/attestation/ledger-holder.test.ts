import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { holdLedger } from '../../src/attestation/ledger-holder.ts'
import { parseConfig } from '../../src/config/parse.ts'
import type { ConfigInput } from '../../src/config/schema.ts'
import { freePort } from '../../src/stores/testing/index.ts'

function held(t: Test, config: ConfigInput) {
  const faults: unknown[] = []
  const holder = holdLedger(parseConfig(config), {
    clock: { now: Date.now },
    onFault: (error) => faults.push(error),
    onKeyMade() {},
    raise() {},
  })
  t.teardown(() => holder.close())
  return { holder, faults }
}

t.test('a ledger that cannot be opened has no status, also while it is tried', async (t) => {
  const store = `postgres://nobody@127.0.0.1:${await freePort()}/none`
  const { holder, faults } = held(t, { dataDir: t.testdir(), store })
  const using = holder.use(async () => true)
  const asked = holder.status()
  await t.rejects(using, { code: 'attestation_unavailable' })
  t.equal(await asked, undefined)
  t.equal(faults.length, 1)
})

t.test('a damaged ledger is refused in one plain sentence', async (t) => {
  const dataDir = t.testdir()
  writeFileSync(join(dataDir, 'ledger.db'), 'no database: '.repeat(200))
  const { holder } = held(t, { dataDir })
  await t.rejects(holder.open(), {
    code: 'ledger_refused',
    message: 'The ledger cannot be opened: file is not a database',
  })
})
