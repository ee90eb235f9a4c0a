import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCommitter } from '@sallyport/ledger'
import { append, LEDGER_CONTRACT, madeDraft } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { openSqliteLedger } from '../../src/stores/index.ts'
import { connect } from '../../src/stores/sqlite/driver.ts'
import { findFault, openLedgerIn } from './ledger-place.ts'
import { closeAfter, temporaryFolder } from './processes.ts'

const AT = Date.parse('2026-11-21T02:00:00.000Z')

for (const row of LEDGER_CONTRACT) {
  t.test(`contract: ${row.name}`, async (t) => {
    const store = closeAfter(t, await openSqliteLedger(join(await temporaryFolder(t), 'ledger.db')))
    await row.run(store, t)
  })
}

/** Ten records of `t/a` and five of `t/b` in turn, with a second connection as an auditor or a forger has it. */
async function fifteen(t: Test) {
  const folder = await temporaryFolder(t)
  const { store, ledger, attest } = await openLedgerIn(t, folder)
  for (let count = 0; count < 15; count++) await attest(count % 3 === 2 ? 't/b' : 't/a', `192.0.2.${count}`)
  const database = closeAfter(t, await connect(join(folder, 'ledger.db'), 1000))
  return { folder, store, ledger, attest, database }
}

t.test('an auditor reads the file with plain SQL', async (t) => {
  const { store, database } = await fifteen(t)
  const rows = database
    .prepare(
      `SELECT attestation_id, seq, CAST(bytes AS TEXT) AS text, address FROM record
       JOIN log ON log.id = record.log LEFT JOIN subject USING (attestation_id) WHERE name = 't/a' ORDER BY seq`,
    )
    .all()
  const records = await store.records('t/a', 0, 100)
  t.equal(rows.length, records.length)
  for (const [at, { attestationId, seq, bytes }] of records.entries())
    t.match(rows[at], { attestation_id: attestationId, seq, text: Buffer.from(bytes).toString() })
  t.equal(rows[3]?.['address'], '192.0.2.4')
  t.match(database.prepare(`SELECT size FROM log WHERE name = 't/a'`).get(), { size: 10 })
  t.match(database.prepare('SELECT next_id FROM ledger').get(), { next_id: 17 })
})

t.test('the database itself holds that an id and a place are given once', async (t) => {
  const { database } = await fifteen(t)
  const copy = (id: string, seq: string) =>
    database.exec(`INSERT INTO record SELECT ${id}, log, ${seq}, bytes FROM record WHERE attestation_id = 3`)
  t.throws(() => copy('99', 'seq'), /UNIQUE/)
  t.throws(() => copy('attestation_id', '99'), /UNIQUE/)
})

const HEAD_CHANGES = {
  link: `UPDATE log SET link = '${'0'.repeat(64)}' WHERE name = 't/a'`,
  size: `UPDATE log SET size = 9 WHERE name = 't/a'`,
  'row, which is gone,': `DELETE FROM log WHERE name = 't/a'`,
  'next id': 'UPDATE ledger SET next_id = 3',
}

for (const [what, change] of Object.entries(HEAD_CHANGES)) {
  t.test(`a head whose ${what} is not what was written is not built upon`, async (t) => {
    const { store, attest, database } = await fifteen(t)
    const rows = () => database.prepare('SELECT count(*) AS records FROM record').get()
    const before = rows()
    database.exec(change)
    await t.rejects(attest('t/a'), { name: 'LedgerUnavailable' })
    t.same(rows(), before)
    if (what === 'size') await t.rejects(append(store, [madeDraft('t/a')]), /UNIQUE/, 'nor by another process')
  })
}

t.test('subjects are erased in steps, between which records are appended', async (t) => {
  const { store } = await fifteen(t)
  const committer = createCommitter(store)
  // In parts, each of which a busy machine writes in the time of a call.
  const drafts = Array.from({ length: 1_500 }, () => madeDraft('t/c', '203.0.113.7', AT))
  for (let part = 0; part < 7; part++) await committer.commit(drafts)
  const [erased] = await Promise.all([store.eraseSubject('203.0.113.7'), committer.commit([madeDraft('t/c')])])
  t.ok(erased === 10_500 || erased === 10_501, `${erased}`)
  t.equal((await store.subjects([17, 17 + 10_499])).size, 0)
  t.equal((await store.subjects([2])).size, 1)
})

t.test('erased content leaves the log although heads are reserved meanwhile', async (t) => {
  const folder = await temporaryFolder(t)
  const { store, attest } = await openLedgerIn(t, folder)
  await attest()
  let erased = 0
  const erasing = store.eraseSubject('203.0.113.7').then((count) => (erased = count))
  while (erased === 0) await store.heads(['t/a'], true)
  t.equal(await erasing, 1)
  t.notOk((await readFile(join(folder, 'ledger.db-wal'))).includes('203.0.113.7'))
  await attest()
  t.equal(await findFault(store, folder), undefined)
})

t.test('a file of another release is refused, with what to do, and left alone', async (t) => {
  const path = join(await temporaryFolder(t), 'ledger.db')
  await (await openSqliteLedger(path)).close()
  const database = closeAfter(t, await connect(path, 1000))
  database.exec('PRAGMA user_version = 3')
  await t.rejects(openSqliteLedger(path), /tables of version 3, but this Sallyport supports version 1\. Open it with/)
  t.match(database.prepare('PRAGMA user_version').get(), { user_version: 3 })
})
