import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LedgerStore, StoredRecord } from '@sallyport/ledger'
import { LEDGER_CONTRACT } from '@sallyport/ledger/testing'
import t from 'tap'
import { connect } from '../src/driver.ts'
import { openSqliteLedger } from '../src/index.ts'
import { faultOf, openLedgerIn } from './ledger-place.ts'
import { temporaryFolder } from './processes.ts'

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

/** Takes a file back to the first version, which had a row for each record. */
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

t.test('a file with a row for each record is taken over with all that it holds', async (t) => {
  const folder = await temporaryFolder(t)
  const before = await openLedgerIn(folder)
  for (let index = 0; index < 40; index++) await before.attest(index % 3 === 0 ? 't/b' : 't/a')
  await before.ledger.checkpoint()
  const grown = await before.attest('t/a')
  const logs = ['keys', 't/a', 't/b']
  const read = async (store: LedgerStore) => (await Promise.all(logs.map((log) => store.records(log, 0, 100)))).flat()
  const records = await read(before.store)
  await before.store.close()
  await makeFirstVersion(join(folder, 'ledger.db'), records)

  const store = await openSqliteLedger(join(folder, 'ledger.db'))
  t.same(
    (await store.uncovered(10)).map(({ log }) => log),
    ['t/a'],
  )
  await store.close()
  const after = await openLedgerIn(folder)
  t.teardown(() => after.store.close())
  t.same(await read(after.store), records)
  t.equal(await after.attest('t/a'), grown + 1)
  t.equal(await faultOf(after.store, folder), undefined)
})
