import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { madeDraft } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { connect } from '../src/driver.ts'
import { openSqliteLedger } from '../src/index.ts'
import { createExitGate } from '../src/ledger/exit-gate.ts'
import { createLogFolder } from '../src/ledger/log-folder.ts'
import { createSharedRecords } from '../src/ledger/shared-records.ts'
import { openLedgerFile } from '../src/ledger/sqlite-file.ts'
import { packDrafts } from '../src/ledger/transit.ts'
import { createWriteAheadLog } from '../src/ledger/write-ahead-log.ts'
import { temporaryFolder } from './processes.ts'

const PAGE = 8192

function drafts(count: number) {
  return Array.from({ length: count }, () => madeDraft('t/a'))
}

async function ledgerPath(t: Test): Promise<string> {
  return join(await temporaryFolder(t), 'ledger.db')
}

/** Waits for what another thread does; false where it does not. */
async function comes(met: () => boolean): Promise<boolean> {
  for (const deadline = performance.now() + 10_000; !met(); await delay(5))
    if (performance.now() > deadline) return false
  return true
}

t.test('a log is folded in another thread while its writer goes on, and begins anew', async (t) => {
  const path = await ledgerPath(t)
  const file = await openLedgerFile(path, createSharedRecords())
  t.teardown(() => file.close())
  let rests = 0
  const foldEnd = () => {
    rests++
    file.foldEnd()
  }
  const folder = createLogFolder(path, { unfolded: file.unfolded, foldEnd }, createExitGate(), {
    foldPages: 40,
    lookEvery: 1,
  })
  t.teardown(() => folder.close())
  let writes = 0
  let pages = 0
  const begunAnew = () => pages * PAGE > 3 * statSync(`${path}-wal`).size
  // The first pages are written while the thread is being started.
  for (const deadline = performance.now() + 20_000; (rests < 3 || !begunAnew()) && performance.now() < deadline; ) {
    const before = file.unfolded()
    file.append(packDrafts(drafts(20)))
    writes++
    // At least: what is folded meanwhile is missing.
    pages += Math.max(0, file.unfolded() - before)
    folder.wrote()
    await turn()
  }
  t.ok(begunAnew(), `${pages} pages were written in ${writes} transactions and folded ${rests} times`)
  t.ok(await comes(() => file.unfolded() < 40), 'and little is left')
  t.equal(file.head('t/a')?.size, writes * 20)
})

t.test('a short log is left alone', async (t) => {
  const path = await ledgerPath(t)
  const file = await openLedgerFile(path, createSharedRecords())
  t.teardown(() => file.close())
  const folder = createLogFolder(path, { unfolded: () => 39, foldEnd: () => t.fail('folded') }, createExitGate(), {
    foldPages: 40,
    lookEvery: 1,
  })
  folder.wrote()
  await folder.close()
})

t.test('where the thread cannot work, the writer folds, and where he cannot, it stays', async (t) => {
  let rests = 0
  const foldEnd = () => {
    rests++
    throw new Error('disk full')
  }
  const folder = createLogFolder(await temporaryFolder(t), { unfolded: () => 40, foldEnd }, createExitGate(), {
    foldPages: 40,
    lookEvery: 1,
  })
  folder.wrote()
  t.ok(await comes(() => rests === 1), 'a folder is no database')
  await delay(20)
  folder.wrote()
  t.ok(await comes(() => rests === 2), 'it is tried again')
  await folder.close()
})

t.test('a ledger that is written to is in its file before it is closed, and alone there after', async (t) => {
  const path = await ledgerPath(t)
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  for (let count = 0; count < 100; count++) await store.append(drafts(500))
  t.ok(await comes(() => statSync(path).size > 1000 * PAGE), 'most of it is in the file')
  await store.append(drafts(500))
  await store.close()
  t.notOk(existsSync(`${path}-wal`), 'the log is gone')
  const again = await openSqliteLedger(path)
  t.teardown(() => again.close())
  t.equal((await again.head('t/a'))?.size, 101 * 500)
})

t.test('what is erased leaves the log although somebody reads it for long', async (t) => {
  const path = await ledgerPath(t)
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  const address = '2001:db8:dead:beef::77'
  await store.append([{ ...madeDraft('t/a'), subject: { address, salt: new Uint8Array(32) } }])
  const holds = () => [path, `${path}-wal`].some((file) => readFileSync(file, 'latin1').includes(address))
  t.ok(holds())
  const reader = await connect(path, 0)
  t.teardown(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM block_subjects').all()
  // Longer than SQLite waits by itself, after which it gives up without an error.
  const letGo = delay(2_300).then(() => reader.exec('COMMIT'))
  t.equal(await store.eraseSubject(address), 1)
  t.notOk(holds())
  await letGo
})

t.test('a log that somebody goes on reading is not called empty', async (t) => {
  const path = await ledgerPath(t)
  const writer = await connect(path, 0)
  t.teardown(() => writer.close())
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)')
  const reader = await connect(path, 0)
  t.teardown(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT * FROM t').all()
  writer.exec('INSERT INTO t VALUES (1)')
  t.throws(() => createWriteAheadLog(writer, { deadlineMs: 50 }).empty(), /goes on reading/)
  reader.exec('COMMIT')
  createWriteAheadLog(writer, { deadlineMs: 50 }).empty()
  t.equal(statSync(`${path}-wal`).size, 0)
})

t.test('a long log is begun anew by the next writer, and nobody is held up for long', async (t) => {
  const path = await ledgerPath(t)
  const writer = await connect(path, 1_000)
  const other = await connect(path, 0)
  t.teardown(() => [writer, other].map((database) => database.close()))
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)')
  for (let row = 0; row < 20; row++) writer.exec('INSERT INTO t VALUES (zeroblob(5000))')
  const [short, long] = [
    createWriteAheadLog(writer, { longPages: 1000 }),
    createWriteAheadLog(writer, { longPages: 10 }),
  ]
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM t').all()
  writer.exec('INSERT INTO t VALUES (1)')
  const before = performance.now()
  long.foldEnd()
  t.ok(performance.now() - before < 900, 'who reads is not waited for as a lock is')
  t.equal(writer.prepare('PRAGMA busy_timeout').get()?.['timeout'], 1_000, 'for which writers wait as before')
  t.ok(long.unfolded() > 0)
  other.exec('COMMIT')
  other.exec('BEGIN IMMEDIATE')
  short.foldEnd()
  t.equal(short.unfolded(), 0, 'a short one is folded while another writes')
  other.exec('INSERT INTO t VALUES (1)')
  other.exec('COMMIT')
  t.ok(long.unfolded() > 0)
  long.foldEnd()
  other.exec('INSERT INTO t VALUES (1)')
  t.ok(long.unfolded() < 5, 'begun anew')
})
