import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { createCommitter, headOf } from '@sallyport/ledger'
import { append, madeDraft } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { openSqliteLedger } from '../../src/stores/index.ts'
import { createExitDrain } from '../../src/stores/ledger/exit-drain.ts'
import { type LedgerFile, openLedgerFile } from '../../src/stores/ledger/sqlite-file.ts'
import { createWal } from '../../src/stores/ledger/wal.ts'
import { createWalCheckpointer } from '../../src/stores/ledger/wal-checkpointer.ts'
import { connect } from '../../src/stores/sqlite/driver.ts'
import { temporaryFolder } from './processes.ts'

const PAGE = 8192

function drafts(count: number) {
  return Array.from({ length: count }, () => madeDraft('t/a'))
}

/** A committer of this thread, where the file's own thread would be. */
function committerOf({ origin, heads, commit }: LedgerFile) {
  return createCommitter({
    origin,
    heads: async (...asked) => heads(...asked),
    commit: async (...given) => commit(...given),
  })
}

async function ledgerPath(t: Test): Promise<string> {
  return join(await temporaryFolder(t), 'ledger.db')
}

/** Waits for what another thread does. */
async function comes(holds: () => boolean): Promise<true> {
  while (!holds()) await delay(5)
  return true
}

t.test('a log is checkpointed in another thread while its writer appends, and restarts', async (t) => {
  const path = await ledgerPath(t)
  const file = await openLedgerFile(path)
  t.teardown(() => file.close())
  let finishes = 0
  const finishCheckpoint = () => {
    finishes++
    file.finishCheckpoint()
  }
  const checkpointer = createWalCheckpointer(
    path,
    { pendingPages: file.pendingPages, finishCheckpoint },
    createExitDrain(),
    {
      checkpointPages: 40,
      lookEvery: 1,
    },
  )
  t.teardown(() => checkpointer.close())
  const committer = committerOf(file)
  let writes = 0
  let pages = 0
  const restarted = () => pages * PAGE > 3 * statSync(`${path}-wal`).size
  // The first pages are written while the thread is being started.
  while (finishes < 3 || !restarted()) {
    const before = file.pendingPages()
    await committer.commit(drafts(20))
    writes++
    // At least: what is checkpointed meanwhile is missing.
    pages += Math.max(0, file.pendingPages() - before)
    checkpointer.wrote()
    await turn()
  }
  t.ok(restarted(), `${pages} pages were written in ${writes} commits and checkpointed ${finishes} times`)
  t.ok(await comes(() => file.pendingPages() < 40), 'and little is left')
  t.equal(file.heads(['t/a']).logs.get('t/a')?.size, writes * 20)
})

t.test('a short log is left alone', async (t) => {
  const path = await ledgerPath(t)
  const file = await openLedgerFile(path)
  t.teardown(() => file.close())
  const checkpointer = createWalCheckpointer(
    path,
    { pendingPages: () => 39, finishCheckpoint: () => t.fail('checkpointed') },
    createExitDrain(),
    {
      checkpointPages: 40,
      lookEvery: 1,
    },
  )
  checkpointer.wrote()
  await checkpointer.close()
})

t.test('the writer does it if the thread fails, and the log stays if it cannot', async (t) => {
  let finishes = 0
  const finishCheckpoint = () => {
    finishes++
    throw new Error('disk full')
  }
  const checkpointer = createWalCheckpointer(
    await temporaryFolder(t),
    { pendingPages: () => 40, finishCheckpoint },
    createExitDrain(),
    {
      checkpointPages: 40,
      lookEvery: 1,
    },
  )
  checkpointer.wrote()
  t.ok(await comes(() => finishes === 1), 'a folder is no database')
  await delay(20)
  checkpointer.wrote()
  t.ok(await comes(() => finishes === 2), 'it is tried again')
  await checkpointer.close()
})

t.test('a ledger that is written to is in its file before it is closed, and alone there after', async (t) => {
  const path = await ledgerPath(t)
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  const context = `{"a":"${'x'.repeat(PAGE)}"}`
  const long = Array.from({ length: 100 }, () => madeDraft('t/a', '192.0.2.1', 0, context))
  for (let count = 0; count < 50; count++) await append(store, long)
  t.ok(await comes(() => statSync(path).size > 1000 * PAGE), 'most of it is in the file')
  await append(store, long)
  await store.close()
  t.notOk(existsSync(`${path}-wal`), 'the log is gone')
  const again = await openSqliteLedger(path)
  t.teardown(() => again.close())
  t.equal((await headOf(again, 't/a'))?.size, 51 * 100)
})

t.test('erased content leaves the log although another connection reads it', async (t) => {
  const path = await ledgerPath(t)
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  const address = '2001:db8:dead:beef::77'
  await append(store, [{ ...madeDraft('t/a'), subject: { address, salt: new Uint8Array(32) } }])
  const holds = () => [path, `${path}-wal`].some((file) => readFileSync(file, 'latin1').includes(address))
  t.ok(holds())
  const reader = await connect(path, 0)
  t.teardown(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM subject').all()
  const letGo = delay(100).then(() => reader.exec('COMMIT'))
  t.equal(await store.eraseSubject(address), 1)
  t.notOk(holds())
  await letGo
})

t.test('emptying a log is retried while it is read, where SQLite gives up without an error', async (t) => {
  const busy = [1, 1, 0]
  const get = () => ({ busy: busy.shift() ?? null })
  const database = { exec() {}, prepare: () => ({ get, run: () => ({ changes: 0 }), all: () => [] }), close() {} }
  createWal(database).truncate()
  t.same(busy, [])
})

t.test('a log that is still being read is not called empty', async (t) => {
  const path = await ledgerPath(t)
  const writer = await connect(path, 0)
  t.teardown(() => writer.close())
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)')
  const reader = await connect(path, 0)
  t.teardown(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT * FROM t').all()
  writer.exec('INSERT INTO t VALUES (1)')
  t.throws(() => createWal(writer, { deadlineMs: 50 }).truncate(), /is still reading/)
  reader.exec('COMMIT')
  createWal(writer, { deadlineMs: 50 }).truncate()
  t.equal(statSync(`${path}-wal`).size, 0)
})

t.test('a long log is restarted by the next writer, and no connection waits for long', async (t) => {
  const path = await ledgerPath(t)
  const writer = await connect(path, 1_000)
  const other = await connect(path, 0)
  t.teardown(() => [writer, other].map((database) => database.close()))
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)')
  for (let row = 0; row < 20; row++) writer.exec('INSERT INTO t VALUES (zeroblob(5000))')
  const busyTimeout = () => writer.prepare('PRAGMA busy_timeout').get()?.['timeout']
  const waits: unknown[] = []
  const prepare = (sql: string) => {
    const statement = writer.prepare(sql)
    if (!sql.includes('RESTART')) return statement
    const get = () => {
      waits.push(busyTimeout())
      return statement.get()
    }
    return { get, run: () => ({ changes: 0 }), all: () => [] }
  }
  const exec = (sql: string) => writer.exec(sql)
  const watched = { exec, prepare, close() {} }
  const [short, long] = [createWal(writer, { restartPages: 1000 }), createWal(watched, { restartPages: 10 })]
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM t').all()
  writer.exec('INSERT INTO t VALUES (1)')
  long.finishCheckpoint()
  t.same(waits, [50], 'readers are waited for a twentieth of the time that a lock is')
  t.equal(busyTimeout(), 1_000, 'for which writers wait as before')
  t.ok(long.pendingPages() > 0)
  other.exec('COMMIT')
  other.exec('BEGIN IMMEDIATE')
  short.finishCheckpoint()
  t.equal(short.pendingPages(), 0, 'a short one is checkpointed while another writes')
  other.exec('INSERT INTO t VALUES (1)')
  other.exec('COMMIT')
  t.ok(long.pendingPages() > 0)
  long.finishCheckpoint()
  other.exec('INSERT INTO t VALUES (1)')
  t.ok(long.pendingPages() < 5, 'restarted')
})
