import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { holdLedger } from '../../src/attestation/ledger-holder.ts'
import { parseConfig } from '../../src/config/parse.ts'
import type { ConfigInput } from '../../src/config/schema.ts'
import { open } from '../../src/open/open.ts'
import { freePort } from '../../src/stores/testing/index.ts'
import { openHook } from '../features/notify/events.ts'
import { madeConfig } from '../open/made-sources.ts'
import { requestFrom } from '../open/requests.ts'

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
  const message = 'The ledger cannot be opened: file is not a database'
  await t.rejects(holder.open(), { code: 'ledger_refused', message })
})

t.test('a start that a ledger refuses is notified before it ends', async (t) => {
  const folder = t.testdir()
  const hook = await openHook(t)
  const notify = [{ url: hook.url, on: ['ledger' as const] }]
  const config = { ...madeConfig(folder), net: { allowPrivate: ['127.0.0.0/8'] }, notify }
  const sallyport = await open(config, { onNotice: () => {} })
  await sallyport.provenance.attestDecision(sallyport.decide(requestFrom('8.1.0.1')), 'DE')
  await sallyport.close()
  for (const end of ['', '-wal', '-shm']) rmSync(join(folder, 'state', `ledger.db${end}`), { force: true })
  await t.rejects(open(config, { onNotice: () => {} }), { code: 'ledger_refused' })
  const [posted] = await hook.received(1)
  const text = /^The ledger stores no records: .*checkpoint .* is of another ledger/s
  t.match(JSON.parse(posted?.body ?? ''), { kind: 'ledger', text })
})

const PROGRAM = `import('@sallyport/engine').then(async ({ open }) => {
  const sallyport = await open({ dataDir: process.argv.at(-1), data: { refresh: false, city: false } })
  console.log((await sallyport.provenance.keys()).keys.length)
  await sallyport.close()
})`

t.test('the thread of the ledger starts whatever flags the process has', async (t) => {
  for (const flags of ['--max-old-space-size=640', '--input-type=module --title=shop']) {
    const args = [...flags.split(' '), '--eval', PROGRAM, t.testdir()]
    const said = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' })
    t.equal(said, '1\n', flags)
  }
})
