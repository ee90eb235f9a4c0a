import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readHead } from '@sallyport/ledger'
import { append, madeDraft } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { openSqliteLedger } from '../../src/stores/index.ts'
import { createWal } from '../../src/stores/ledger/wal.ts'
import { connect } from '../../src/stores/sqlite/driver.ts'
import { closeAfter, temporaryFolder } from './processes.ts'

const PAGE = 8192

const ledgerPath = async (t: Test) => join(await temporaryFolder(t), 'ledger.db')

t.test('a ledger that is written to is in its file before it is closed, and alone there after', async (t) => {
  const path = await ledgerPath(t)
  const store = closeAfter(t, await openSqliteLedger(path))
  const context = `{"a":"${'x'.repeat(PAGE)}"}`
  const long = Array.from({ length: 100 }, () => madeDraft('t/a', '192.0.2.1', 0, context))
  for (let count = 0; count < 50; count++) await append(store, long)
  while (statSync(path).size <= 1000 * PAGE) await delay(5)
  await append(store, long)
  await store.close()
  t.notOk(existsSync(`${path}-wal`), 'the log is gone')
  const again = closeAfter(t, await openSqliteLedger(path))
  t.equal((await readHead(again, 't/a'))?.size, 51 * 100)
})

t.test('erased content leaves the log although another connection reads it', async (t) => {
  const path = await ledgerPath(t)
  const store = closeAfter(t, await openSqliteLedger(path))
  const address = '2001:db8:dead:beef::77'
  await append(store, [{ ...madeDraft('t/a'), subject: { address, salt: new Uint8Array(32) } }])
  const holds = () => [path, `${path}-wal`].some((file) => readFileSync(file, 'latin1').includes(address))
  t.ok(holds())
  const reader = closeAfter(t, await connect(path, 0))
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM subject').all()
  const letGo = delay(100).then(() => reader.exec('COMMIT'))
  t.equal(await store.eraseSubject(address), 1)
  t.notOk(holds())
  await letGo
})

t.test('a log that is still being read is not called empty', async (t) => {
  const path = await ledgerPath(t)
  const writer = closeAfter(t, await connect(path, 0))
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)')
  const reader = closeAfter(t, await connect(path, 0))
  reader.exec('BEGIN')
  reader.prepare('SELECT * FROM t').all()
  writer.exec('INSERT INTO t VALUES (1)')
  t.throws(() => createWal(writer, { deadlineMs: 50 }).truncate(), /is still reading/)
  reader.exec('COMMIT')
  createWal(writer, { deadlineMs: 50 }).truncate()
  t.equal(statSync(`${path}-wal`).size, 0)
})

t.test('a long log is restarted by the next writer, a short one is checkpointed while another writes', async (t) => {
  const path = await ledgerPath(t)
  const writer = await connect(path, 1_000)
  const other = await connect(path, 0)
  t.teardown(() => [writer, other].map((database) => database.close()))
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)')
  for (let row = 0; row < 20; row++) writer.exec('INSERT INTO t VALUES (zeroblob(5000))')
  const each = { checkpointPages: 1, lookEvery: 1 }
  const short = createWal(writer, { ...each, restartPages: 1000 })
  const long = createWal(writer, { ...each, restartPages: 10 })
  const pages = () => Number(writer.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.['log'])
  const pending = () => pages() - Number(writer.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.['checkpointed'])
  other.exec('BEGIN; SELECT count(*) FROM t')
  writer.exec('INSERT INTO t VALUES (1)')
  const before = performance.now()
  long.keepShort()
  t.ok(performance.now() - before < 900, 'readers are waited for a part of the time that a lock is')
  t.ok(pending() > 0)
  other.exec('COMMIT; BEGIN IMMEDIATE')
  short.keepShort()
  t.equal(pending(), 0)
  other.exec('INSERT INTO t VALUES (1); COMMIT')
  t.ok(pending() > 0)
  long.keepShort()
  other.exec('INSERT INTO t VALUES (1)')
  t.ok(pages() < 5, 'the log begins again')
})
