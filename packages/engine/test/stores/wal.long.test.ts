import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readHead } from '@sallyport/ledger'
import { append, madeDraft } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { openSqliteLedger } from '../../src/stores/index.ts'
import { createWal } from '../../src/stores/ledger/wal.ts'
import { connect } from '../../src/stores/sqlite/driver.ts'
import { temporaryFolder } from './processes.ts'

const PAGE = 8192

async function ledgerPath(t: Test): Promise<string> {
  return join(await temporaryFolder(t), 'ledger.db')
}

/** Waits for what another thread does. */
async function comes(holds: () => boolean): Promise<true> {
  while (!holds()) await delay(5)
  return true
}

t.test('a log that grows is copied into the file by its writer, and restarts; a short one is left alone', async (t) => {
  const path = await ledgerPath(t)
  const writer = await connect(path, 0)
  t.teardown(() => writer.close())
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)')
  const write = () => writer.exec('INSERT INTO t VALUES (zeroblob(5000))')
  const size = () => statSync(`${path}-wal`).size
  const [busy, idle] = [8, 1_000].map((checkpointPages) => createWal(writer, { checkpointPages, lookEvery: 2 }))
  for (let count = 0; count < 20; count++) {
    write()
    idle?.keepShort()
  }
  const long = size()
  busy?.keepShort()
  write()
  t.ok(size() > long, 'not every write is followed by a look')
  busy?.keepShort()
  const most = size()
  for (let count = 0; count < 40; count++) {
    write()
    busy?.keepShort()
  }
  t.equal(size(), most, 'the log begins again')
})

t.test('a log that cannot be copied stays, and is tried again', async (t) => {
  let tries = 0
  const get = (sql: string) => {
    if (sql.includes('NOOP')) return { log: 1_000, checkpointed: 0 }
    tries++
    throw new Error('disk full')
  }
  const prepare = (sql: string) => ({ get: () => get(sql), run: () => ({ changes: 0 }), all: () => [] })
  const wal = createWal({ exec() {}, prepare, close() {} }, { lookEvery: 1 })
  wal.keepShort()
  wal.keepShort()
  t.equal(tries, 2)
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
  t.equal((await readHead(again, 't/a'))?.size, 51 * 100)
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
  const each = { checkpointPages: 1, lookEvery: 1 }
  const short = createWal(writer, { ...each, restartPages: 1000 })
  const long = createWal(watched, { ...each, restartPages: 10 })
  const pending = () => {
    const row = writer.prepare('PRAGMA wal_checkpoint(NOOP)').get()
    return Number(row?.['log']) - Number(row?.['checkpointed'])
  }
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM t').all()
  writer.exec('INSERT INTO t VALUES (1)')
  long.keepShort()
  t.same(waits, [50], 'readers are waited for a twentieth of the time that a lock is')
  t.equal(busyTimeout(), 1_000, 'for which writers wait as before')
  t.ok(pending() > 0)
  other.exec('COMMIT')
  other.exec('BEGIN IMMEDIATE')
  short.keepShort()
  t.equal(pending(), 0, 'a short one is checkpointed while another writes')
  other.exec('INSERT INTO t VALUES (1)')
  other.exec('COMMIT')
  t.ok(pending() > 0)
  long.keepShort()
  other.exec('INSERT INTO t VALUES (1)')
  t.ok(pending() < 5, 'restarted')
})
