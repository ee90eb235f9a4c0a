import { join } from 'node:path'
import { auditLedger, type StoredRecord, type Subject } from '@sallyport/ledger'
import { MADE_DATASETS, MADE_POLICY, madeDraft } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { connect } from '../src/driver.ts'
import { openSqliteLedger } from '../src/index.ts'
import { numbersOf } from '../src/ledger/rows.ts'
import { openLedgerIn } from './ledger-place.ts'
import { temporaryFolder } from './processes.ts'

const AT = Date.parse('2026-11-21T02:00:00.000Z')

t.test('whole numbers are read out of a text as they were written', async (t) => {
  const numbers = [0, 7, -1, 10, 1024, 2 ** 31, 2 ** 53 - 1, -(2 ** 53) + 1, 5]
  t.same([...numbersOf({ column: numbers.join() }, 'column', numbers.length)], numbers)
  t.same([...numbersOf({ column: '42' }, 'column', 1)], [42])
})

t.test('records and subjects that are read many at once are those that are read one by one', async (t) => {
  const store = await openSqliteLedger(join(await temporaryFolder(t), 'ledger.db'))
  t.teardown(() => store.close())
  const contexts = [undefined, '{"a":1}', undefined, '{"é":"€\\n"}', undefined, '{"b":"😀"}']
  const logs = ['t/a', 't/b', 't/a', 't/a', 't/c']
  const drafts = Array.from({ length: 60 }, (_, index) =>
    madeDraft(logs[index % 5] as string, `2001:db8::${index}`, AT, contexts[index % 6]),
  )
  await store.append(drafts)
  t.equal(await store.eraseSubject('2001:db8::12'), 1)

  const records = await store.records('t/a', 0, 100)
  t.equal(records.length, 36)
  const each = await Promise.all(records.map(({ attestationId }) => store.find(attestationId, 't/a')))
  t.same(records.map(plain), each.map(plain))
  t.same((await store.records('t/a', 30, 3)).map(plain), each.slice(30, 33).map(plain))

  const ids = records.map(({ attestationId }) => attestationId)
  const subjects = await store.subjects(ids)
  const kept = ids.filter((id) => id !== 13)
  t.same([...subjects.keys()], kept, 'of these records, and none of others in between')
  for (const id of kept) {
    const subject = subjects.get(id) as Subject
    t.same({ ...subject, salt: Buffer.from(subject.salt) }, drafts[id - 1]?.subject, `subject ${id}`)
    t.same((await store.subjects([id])).get(id), subject)
  }
  t.same([...(await store.subjects([])).keys()], [])
  t.same([...(await store.subjects([13, 999])).keys()], [])
})

/** A ledger of 't/a' in blocks of 32, 32, 8, 1 and 4 records, those of another log between them. */
async function blocks(t: Test) {
  const path = join(await temporaryFolder(t), 'ledger.db')
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  for (const document of [MADE_POLICY, MADE_DATASETS]) await store.putDocument(document)
  const drafts = (log: string, count: number) => Array.from({ length: count }, () => madeDraft(log))
  await store.append([...drafts('t/b', 2), ...drafts('t/a', 72), ...drafts('t/b', 1), ...drafts('t/a', 1)])
  await store.append(drafts('t/a', 4))
  const database = await connect(path, 1000)
  t.teardown(() => database.close())
  return { store, database }
}

t.test('records are read from any place on and in any number, and each by its id', async (t) => {
  const { store } = await blocks(t)
  const all = await store.records('t/a', 0, 1000)
  t.same(
    all.map(({ attestationId, seq }) => [attestationId, seq]),
    Array.from({ length: 77 }, (_, seq) => [seq + (seq < 72 ? 3 : 4), seq]),
  )
  for (const [index, { bytes, attestationId }] of all.entries()) {
    t.match(JSON.parse(Buffer.from(bytes).toString()), { attestation_id: attestationId, seq: index })
    t.same(plain(await store.find(attestationId, 't/a')), plain(all[index]))
    t.equal(await store.find(attestationId, 't/b'), undefined)
  }
  for (const id of [0, 1, 2, 75, 81, 1000]) t.equal(await store.find(id, 't/a'), undefined)
  for (let from = 0; from < 79; from++) {
    for (const count of [1, 2, 31, 32, 33, 76, 77, 100])
      t.same((await store.records('t/a', from, count)).map(plain), all.slice(from, from + count).map(plain))
  }
  t.same(await store.records('t/none', 0, 10), [])
})

t.test('behind a gap the next records are read', async (t) => {
  const { store, database } = await blocks(t)
  const all = await store.records('t/a', 0, 1000)
  database.exec('DELETE FROM block WHERE log = 2 AND first_seq = 32')
  t.same((await store.records('t/a', 26, 8)).map(plain), [...all.slice(26, 32), ...all.slice(64, 66)].map(plain))
  t.same((await store.records('t/a', 40, 1)).map(plain), [all[64]].map(plain))
  t.equal(await store.find(40, 't/a'), undefined)
})

t.test('the audit of a file tells a block that was changed, whatever of it', async (t) => {
  const wrong: readonly (readonly [change: string, seq: number | undefined])[] = [
    [`lengths = ''`, 0],
    [`lengths = 'x,y'`, 0],
    // What is read as record 1 links to nothing, and the one behind it cannot say which of the two it is.
    [`lengths = '1' || lengths`, 1],
    [`lengths = lengths || ',1'`, 32],
    [`lengths = substr(lengths, 1, length(lengths) - 4)`, 31],
    [`bytes = substr(bytes, 2)`, 0],
    [`bytes = CAST(replace(CAST(bytes AS TEXT), '"seq":3', '"seq":4') AS BLOB)`, 3],
    ['first_id = first_id - 100', 0],
    ['first_seq = first_seq + 1', undefined],
  ]
  for (const [change, seq] of wrong) {
    const { store, database } = await blocks(t)
    t.equal((await auditLedger(store)).fault, undefined)
    database.exec(`UPDATE block SET ${change} WHERE log = 2 AND first_seq = 0`)
    const { fault } = await auditLedger(store)
    t.match(fault, seq === undefined ? { log: 't/a' } : { log: 't/a', seq }, change)
  }
})

function plain(record: StoredRecord | undefined) {
  return record && { ...record, bytes: Buffer.from(record.bytes).toString('latin1') }
}

t.test('subjects that somebody has written over are read as they stand', async (t) => {
  const path = join(await temporaryFolder(t), 'ledger.db')
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  for (let block = 0; block < 3; block++) await store.append(Array.from({ length: 3 }, () => madeDraft('t/a')))
  const database = await connect(path, 1000)
  t.teardown(() => database.close())
  const update = database.prepare('UPDATE block_subjects SET lines = CAST(? AS TEXT) WHERE first_id = ?')
  // What is no UTF-8 is no address, and does not run over into the next block.
  update.run(Buffer.concat([Buffer.from('\n1\n1 xyz b\xe9 {"é":  2} \n'), Buffer.from([0x31, 0x20, 0xe2, 0x82])]), 1)
  update.run(Buffer.concat([Buffer.from([0x80, 0xff]), Buffer.from(' 00ff ::1 \n')]), 4)
  const found = await store.subjects([2, 3, 4, 5, 8])
  t.same(
    [...found].map(([id, { salt, ...subject }]) => [id, Buffer.from(salt).toString('hex'), subject]),
    [
      [2, '', { address: '' }],
      [3, '', { address: 'b\xe9', context: '{"é":  2} ' }],
      [4, '00ff', { address: '::1', context: '' }],
      [8, Buffer.alloc(32, '203.0.113.7').toString('hex'), { address: '203.0.113.7' }],
    ],
  )
})

t.test('the audit of a file tells an address, a salt and a context that were changed, and which', async (t) => {
  const folder = await temporaryFolder(t)
  const { store, ledger, attest } = await openLedgerIn(folder)
  t.teardown(() => store.close())
  for (let count = 0; count < 1040; count++) await store.append([madeDraft('t/a', `192.0.2.${count % 256}`, AT)])
  await attest('t/b')
  const block = Array.from({ length: 5 }, () => madeDraft('t/a', '192.0.2.1', AT, '{"a":1}'))
  const last = (await store.append(block))?.[4]
  await ledger.checkpoint()
  const audit = async () => (await auditLedger(store, { subjects: true })).fault
  t.equal(await audit(), undefined)
  const database = await connect(join(folder, 'ledger.db'), 1000)
  t.teardown(() => database.close())
  const select = database.prepare(
    'SELECT first_id, lines FROM block_subjects WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1',
  )
  const update = database.prepare('UPDATE block_subjects SET lines = ? WHERE first_id = ?')
  /** Changes the line of a record, and gives what takes that back. */
  function change(id: number, makeLine: (moment: string, salt: string, address: string, rest: string) => string) {
    const { first_id = 0, lines = '' } = select.get(id) ?? {}
    const all = String(lines).split('\n')
    const place = id - Number(first_id)
    const [moment = '', salt = '', address = '', ...rest] = String(all[place]).split(' ')
    update.run(all.with(place, makeLine(moment, salt, address, rest.join(' '))).join('\n'), first_id)
    return () => update.run(lines, first_id)
  }
  const rows = await store.records('t/a', 0, 2000)
  for (const seq of [0, 1, 1023, 1024, 1040, 1042, 1044]) {
    const id = rows[seq]?.attestationId as number
    const changes = [
      [(moment, salt, address, rest) => `${moment} ${salt} ${address}1 ${rest}`, /address beside/],
      [(moment, _, address, rest) => `${moment} 00 ${address} ${rest}`, /salt beside/],
      [(moment, _, address, rest) => `${moment} ${'0'.repeat(64)} ${address} ${rest}`, /address beside/],
      [(moment, salt, address) => `${moment} ${salt} ${address} {"a":2}`, /context beside/],
      [() => 'x', /salt beside/],
    ] as const satisfies readonly (readonly [Parameters<typeof change>[1], RegExp])[]
    for (const [makeLine, reason] of changes) {
      const takeBack = change(id, makeLine)
      t.match(await audit(), { log: 't/a', seq, attestationId: id, reason }, `${makeLine} of record ${seq}`)
      takeBack()
    }
  }
  change(Number(last?.attestationId), () => '')
  t.equal(await audit(), undefined, 'one that was erased is none that was changed')
})
