import { join } from 'node:path'
import { auditLedger, type Draft, type LedgerStore, type StoredRecord } from '@sallyport/ledger'
import { MADE_DATASETS, MADE_POLICY, madeDraft } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { connect } from '../src/driver.ts'
import { openSqliteLedger } from '../src/index.ts'
import { createAheadPlacer } from '../src/ledger/placed-ahead.ts'
import { createSharedRecords } from '../src/ledger/shared-records.ts'
import { openLedgerFile } from '../src/ledger/sqlite-file.ts'
import { packDrafts, unpackRecords } from '../src/ledger/transit.ts'
import { temporaryFolder } from './processes.ts'

const AT = Date.parse('2026-11-21T02:00:00.000Z')
const LOGS = ['t/a', 't/b']

/** The mark, the head of t/a as it is written down, and what the head would be. */
const WRITTEN = `SELECT caught_up, size, (SELECT count(*) FROM block WHERE log = 1) AS blocks FROM ledger, log
  WHERE name = 't/a'`

/** A writer whose records were placed ahead, as a service's are; `write` is one append. */
async function openWriter(t: Test, path: string) {
  const shared = createSharedRecords()
  const file = await openLedgerFile(path, shared)
  t.teardown(() => file.close())
  const placer = createAheadPlacer(file.origin, shared)
  const learn = () => {
    const appended = file.append(packDrafts(LOGS.map((log) => madeDraft(log, '::1', AT))))
    if (appended === undefined) throw new Error('not appended')
    placer.learn(appended.firstId, appended.firstId + appended.positions.length, appended.heads)
  }
  const write = (drafts: readonly Draft[]) => {
    const placed = placer.place(drafts)
    if (placed === undefined) throw new Error('not placed')
    const written = file.write(placed.area, placed.packed)
    Atomics.add(shared.done, placed.area, 1)
    return written
  }
  // Twice: before the second it is not known whether anybody else comes in.
  for (let count = 0; count < 2; count++) learn()
  return { file, write, learn }
}

/** A file that a service has left behind: two records of each log were followed, then ten of t/a and five of t/b not. */
async function leaveBehind(t: Test) {
  const path = join(await temporaryFolder(t), 'ledger.db')
  const writer = await openWriter(t, path)
  for (let count = 0; count < 5; count++) {
    const drafts = [madeDraft('t/a'), madeDraft('t/a'), madeDraft('t/b')].map((draft) => ({ ...draft, at: AT + count }))
    t.equal(writer.write(drafts), 3)
  }
  const database = await connect(path, 1000)
  t.teardown(() => database.close())
  const written = () => database.prepare(WRITTEN).get()
  t.match(written(), { caught_up: 5, size: 2, blocks: 7 }, 'an append writes neither heads nor places')
  return { path, writer, database, written }
}

async function faultOf(store: LedgerStore): Promise<unknown> {
  for (const document of [MADE_POLICY, MADE_DATASETS]) await store.putDocument(document)
  return (await auditLedger(store, { subjects: true })).fault
}

const seqsOf = (records: readonly StoredRecord[]) => records.map(({ seq }) => seq)
const upTo = (count: number) => Array.from({ length: count }, (_, seq) => seq)

t.test('heads and places follow after some appends', async (t) => {
  const { writer, written } = await leaveBehind(t)
  const { file, write } = writer
  for (let count = 5; count < 32; count++) write([madeDraft('t/a')])
  t.match(written(), { caught_up: 5 + 15 + 27, size: 12 + 27 })
  write([madeDraft('t/a')])
  t.match(written(), { size: 12 + 27 })
  t.same(seqsOf(unpackRecords('t/a', file.records('t/a', 0, 40))), upTo(40), 'what is behind is read all the same')
  t.equal(file.head('t/a')?.size, 40)
  t.match(written(), { size: 12 + 27 }, 'and nobody who reads it writes')
  t.equal(file.uncovered(1)[0]?.size, 40)
  t.match(written(), { size: 40 }, 'but who looks for what is to be signed')
})

t.test('a file that was closed has all of it written down', async (t) => {
  const { path, written } = await leaveBehind(t)
  await (await openSqliteLedger(path)).close()
  t.match(written(), { caught_up: 20, size: 12 })
})

t.test('records are read from any place on, across the mark', async (t) => {
  const { path, written } = await leaveBehind(t)
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  for (let from = 0; from <= 13; from++) {
    for (const count of [1, 2, 3, 9, 12, 20])
      t.same(seqsOf(await store.records('t/a', from, count)), upTo(12).slice(from, from + count))
  }
  t.equal((await store.find(19, 't/b'))?.seq, 6)
  t.match(written(), { caught_up: 5 })
})

const READS: Record<string, (store: LedgerStore) => Promise<unknown>> = {
  head: async (store) => (await store.head('t/a'))?.size,
  records: async (store) => (await store.records('t/a', 0, 100)).length,
  tile: async (store) => (await store.tile('t/a', 0, 0)).length / 32,
  uncovered: async (store) => (await store.uncovered(1))[0]?.size,
  checkpoint: async (store) => ((await store.putCheckpoint({ log: 't/a', size: 12, note: 'n' }, 0, 0)) ? 12 : 0),
}

for (const [name, read] of Object.entries(READS)) {
  t.test(`another who opens the file has all of it: ${name}`, async (t) => {
    const { path, writer, written } = await leaveBehind(t)
    const store = await openSqliteLedger(path)
    t.teardown(() => store.close())
    t.equal(await read(store), 12)
    const writes = name === 'uncovered' || name === 'checkpoint'
    t.match(written(), writes ? { caught_up: 20, size: 12 } : { caught_up: 5, size: 2 })
    t.same(await store.head('t/a'), writer.file.head('t/a'), 'as the one who wrote knows it')
    t.equal((await store.head('t/a'))?.issuedAt, AT + 4)
    if (name !== 'checkpoint') t.equal(await faultOf(store), undefined)
  })
}

t.test('another appends behind what was left, and the first behind that', async (t) => {
  const { path, writer } = await leaveBehind(t)
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  t.same(await store.append([madeDraft('t/b'), madeDraft('t/c'), madeDraft('t/a')]), [
    { attestationId: 20, seq: 7 },
    { attestationId: 21, seq: 0 },
    { attestationId: 22, seq: 12 },
  ])
  t.equal(writer.write([madeDraft('t/a')]), 0, 'overtaken')
  for (let count = 0; count < 2; count++) writer.learn()
  t.equal(writer.write([madeDraft('t/a')]), 1)
  t.same(seqsOf(await store.records('t/a', 0, 100)), upTo(16))
  t.equal(await faultOf(store), undefined)
})

t.test('a checkpoint does not cover what it was not made for', async (t) => {
  const { path } = await leaveBehind(t)
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  t.equal(await store.putCheckpoint({ log: 't/a', size: 2, note: 'old' }, 0, 0), true)
  t.same(
    (await store.uncovered(10)).map(({ log, size, covered }) => [log, size, covered]),
    [
      ['t/a', 12, 2],
      ['t/b', 7, 0],
    ],
  )
})

t.test('a tail that was changed is not gone on with, and the audit names the record', async (t) => {
  const changes: readonly (readonly [change: string, seq: number | undefined])[] = [
    [`bytes = CAST(replace(CAST(bytes AS TEXT), '_id":8,"basis":{"a', '_id":8,"basis":{"b') AS BLOB)`, 4],
    ['bytes = substr(bytes, 2)', 4],
    [`bytes = CAST(replace(CAST(bytes AS TEXT), '"seq":4', '"seq":5') AS BLOB)`, 4],
    [`lengths = lengths || ',1'`, undefined],
    ['first_seq = first_seq + 1', undefined],
  ]
  for (const [change, seq] of changes) {
    const { path, database } = await leaveBehind(t)
    database.exec(`UPDATE block SET ${change} WHERE first_id = 8`)
    const store = await openSqliteLedger(path)
    t.teardown(() => store.close())
    await t.rejects(store.append([madeDraft('t/a')]), /Record \d+ of t\/a \(attestation \d+\) does not follow/, change)
    t.equal((await store.find(6, 't/a'))?.seq, 3, 'what can be read without it is read')
    t.match(await faultOf(store), seq === undefined ? { log: 't/a' } : { log: 't/a', seq }, change)
  }
})

t.test('the last record of a tail is held against its block, whatever of it was changed', async (t) => {
  const { path, database } = await leaveBehind(t)
  const bytes = database.prepare('SELECT bytes FROM block WHERE first_id = 17').get()?.['bytes']
  const update = database.prepare('UPDATE block SET bytes = ? WHERE first_id = 17')
  if (!(bytes instanceof Uint8Array)) throw new Error('no block')
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  for (let at = 0; at < bytes.length; at += 7) {
    update.run(bytes.with(at, (bytes[at] as number) ^ 1))
    const fault = await faultOf(store)
    if (fault === undefined) t.fail(`byte ${at} was changed unseen`)
    if (at % 70 === 0) t.match(fault, { log: 't/a' })
  }
  await t.rejects(store.append([madeDraft('t/a')]), /does not follow/)
  update.run(bytes)
  t.equal(await faultOf(store), undefined)
  t.match(await store.append([madeDraft('t/a')]), [{ seq: 12 }])
})

t.test('records behind a mark that was moved are found all the same', async (t) => {
  const { path, writer, database } = await leaveBehind(t)
  writer.file.uncovered(1)
  database.exec('UPDATE ledger SET caught_up = 1')
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  t.same(seqsOf(await store.records('t/a', 0, 100)), upTo(12), 'back')
  database.exec('UPDATE ledger SET caught_up = 1000')
  t.equal((await store.append([madeDraft('t/a')]))?.[0]?.seq, 12)
  t.same(seqsOf(await store.records('t/a', 0, 100)), upTo(13), 'ahead')
  t.equal(await faultOf(store), undefined)
})

t.test('an id that is given again after its record was deleted is not taken for the old one', async (t) => {
  const { path, writer, database } = await leaveBehind(t)
  writer.file.uncovered(1)
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  database.exec('DELETE FROM block WHERE first_id = 19; DELETE FROM block_subjects WHERE first_id = 19')
  t.same(await store.append([madeDraft('t/b')]), [{ attestationId: 19, seq: 7 }])
  t.same(seqsOf(await store.records('t/b', 0, 100)), [...upTo(6), 7])
  t.match(await faultOf(store), { log: 't/b' })
})
