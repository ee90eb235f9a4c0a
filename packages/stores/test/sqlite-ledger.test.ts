import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LedgerStore, StoredRecord, Subject } from '@sallyport/ledger'
import { LEDGER_CONTRACT, madeDraft } from '@sallyport/ledger/testing'
import t from 'tap'
import { connect } from '../src/driver.ts'
import { openSqliteLedger } from '../src/index.ts'
import { faultOf, openLedgerIn } from './ledger-place.ts'
import { temporaryFolder } from './processes.ts'

const AT = Date.parse('2026-11-21T02:00:00.000Z')

for (const row of LEDGER_CONTRACT) {
  t.test(`contract: ${row.name}`, async (t) => {
    const store = await openSqliteLedger(join(await temporaryFolder(t), 'ledger.db'))
    t.teardown(() => store.close())
    await row.run(store, t)
  })
}

t.test('a new file has the pages that a commit of many records writes quickest', async (t) => {
  const path = join(await temporaryFolder(t), 'ledger.db')
  await (await openSqliteLedger(path)).close()
  // https://sqlite.org/fileformat.html 1.3.2
  t.equal((await readFile(path)).readUInt16BE(16), 8192)
})

/** Takes a file back to the second version, which had a row for each subject and an index of blocks. */
async function makeSecondVersion(path: string, subjects: ReadonlyMap<number, Subject>): Promise<void> {
  const database = await connect(path, 1000)
  database.exec(`DROP VIEW placed_block;
    DROP TABLE block_place;
    ALTER TABLE ledger DROP COLUMN caught_up;
    ALTER TABLE block RENAME TO bare_block;
    CREATE TABLE block (
      first_id INTEGER PRIMARY KEY, log INTEGER NOT NULL, first_seq INTEGER NOT NULL, lengths TEXT NOT NULL,
      bytes BLOB NOT NULL, UNIQUE (log, first_seq)
    ) STRICT;
    INSERT INTO block SELECT first_id, log, first_seq, lengths, bytes FROM bare_block;
    DROP TABLE bare_block;
    DROP TABLE block_subjects;
    CREATE TABLE subject (
      attestation_id INTEGER PRIMARY KEY, issued_at INTEGER NOT NULL, address TEXT NOT NULL, salt BLOB NOT NULL,
      context TEXT
    ) STRICT;
    PRAGMA user_version = 2`)
  const insert = database.prepare('INSERT INTO subject VALUES (?, ?, ?, ?, ?)')
  for (const [id, { address, salt, context }] of subjects) insert.run(id, AT + id, address, salt, context ?? null)
  database.close()
}

/** Takes a file of the second version back to the first, which had a row for each record. */
async function makeFirstVersion(path: string, records: readonly StoredRecord[]): Promise<void> {
  const database = await connect(path, 1000)
  database.exec(`DROP TABLE block;
    DROP INDEX log_uncovered;
    ALTER TABLE log DROP COLUMN uncovered;
    CREATE INDEX log_uncovered ON log (id) WHERE size > covered;
    ALTER TABLE ledger ADD COLUMN next_id INTEGER NOT NULL DEFAULT ${records.length + 1};
    CREATE TABLE record (
      attestation_id INTEGER PRIMARY KEY, log INTEGER NOT NULL, seq INTEGER NOT NULL, bytes BLOB NOT NULL,
      UNIQUE (log, seq)
    ) STRICT;
    PRAGMA user_version = 1`)
  const insert = database.prepare('INSERT INTO record SELECT ?, id, ?, ? FROM log WHERE name = ?')
  for (const { attestationId, seq, bytes, log } of records) insert.run(attestationId, seq, bytes, log)
  database.close()
}

for (const version of [1, 2]) {
  t.test(`a file of version ${version} is taken over with all that it holds`, async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'ledger.db')
    const before = await openLedgerIn(folder)
    for (let index = 0; index < 20; index++) await before.attest(index % 3 === 0 ? 't/b' : 't/a')
    // Blocks of several, with and without a context, one with nothing left and some with holes.
    const many = ['192.0.2.1', '192.0.2.2', '::1'].flatMap((address) => [
      ...Array.from({ length: 5 }, () => madeDraft('t/a', address)),
      madeDraft('t/a', '::2', AT, '{"a b":"é  1"}'),
      madeDraft('t/b', '192.0.2.1'),
    ])
    await before.store.append(many)
    await before.store.append([madeDraft('t/a', '192.0.2.1'), madeDraft('t/a', '192.0.2.1')])
    t.equal(await before.store.eraseSubject('192.0.2.1'), 10)
    await before.ledger.checkpoint()
    const grown = await before.attest('t/a')
    const logs = ['keys', 't/a', 't/b']
    const read = async (store: LedgerStore) => (await Promise.all(logs.map((log) => store.records(log, 0, 100)))).flat()
    const records = await read(before.store)
    const ids = records.map(({ attestationId }) => attestationId)
    const subjects = await before.store.subjects(ids)
    t.equal(subjects.size, ids.length - 10 - 1)
    await before.store.close()
    await makeSecondVersion(path, subjects)
    if (version === 1) await makeFirstVersion(path, records)

    const store = await openSqliteLedger(path)
    t.same(
      (await store.uncovered(10)).map(({ log }) => log),
      ['t/a'],
    )
    await store.close()
    const after = await openLedgerIn(folder)
    t.teardown(() => after.store.close())
    t.same(await read(after.store), records)
    t.same(await after.store.subjects(ids), subjects)
    t.equal((await after.store.find(grown, 't/a'))?.seq, Number((await after.store.head('t/a'))?.size) - 1)
    t.equal(await after.attest('t/a'), grown + 1)
    t.equal(await faultOf(after.store, folder), undefined)
    t.equal(await after.store.eraseBefore(AT + grown), subjects.size - 1, 'moments are taken over too')
  })
}
