import { join } from 'node:path'
import { auditLedger, type StoredRecord, type Subject } from '@sallyport/ledger'
import { madeDraft } from '@sallyport/ledger/testing'
import t from 'tap'
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

function plain(record: StoredRecord | undefined) {
  return record && { ...record, bytes: Buffer.from(record.bytes).toString('latin1') }
}

t.test('subjects that somebody has written over are read as they stand', async (t) => {
  const path = join(await temporaryFolder(t), 'ledger.db')
  const store = await openSqliteLedger(path)
  t.teardown(() => store.close())
  await store.append(Array.from({ length: 5 }, () => madeDraft('t/a')))
  const database = await connect(path, 1000)
  t.teardown(() => database.close())
  const wanted: Subject[] = [
    { address: '', salt: Buffer.alloc(0), context: '' },
    { address: 'a\nb,é', salt: Buffer.from([0, 255, 0]) },
    { address: '\ufffd', salt: Buffer.alloc(100, 200), context: '\ufffd\ufffd' },
    { address: '203.0.113.7', salt: Buffer.alloc(32, '203.0.113.7') },
  ]
  const update = database.prepare(
    `UPDATE subject SET address = CAST(? AS TEXT), salt = ?, context = CAST(? AS TEXT) WHERE attestation_id = ?`,
  )
  // What is no UTF-8 is no address, and does not run over into the next one.
  const broken = [Buffer.from([0xe2, 0x82]), Buffer.from([0x80, 0xff])]
  for (const [index, { address, salt, context }] of wanted.entries()) {
    if (index === 2) update.run(broken[0] as Buffer, salt, broken[1] as Buffer, 3)
    else update.run(Buffer.from(address), salt, context === undefined ? null : Buffer.from(context), index + 1)
  }
  const found = await store.subjects([1, 2, 3, 4])
  t.same(
    [...found.values()].map((subject) => ({ ...subject, salt: Buffer.from(subject.salt) })),
    wanted,
  )
})

t.test('the audit of a file tells an address, a salt and a context that were changed, and which', async (t) => {
  const folder = await temporaryFolder(t)
  const { store, ledger, attest } = await openLedgerIn(folder)
  t.teardown(() => store.close())
  for (let count = 0; count < 1040; count++) await store.append([madeDraft('t/a', `192.0.2.${count % 256}`, AT)])
  await attest('t/b')
  const [last] = (await store.append([madeDraft('t/a', '192.0.2.1', AT, '{"a":1}')])) ?? []
  await ledger.checkpoint()
  const audit = async () => (await auditLedger(store, { subjects: true })).fault
  t.equal(await audit(), undefined)
  const database = await connect(join(folder, 'ledger.db'), 1000)
  t.teardown(() => database.close())
  const rows = await store.records('t/a', 0, 2000)
  for (const seq of [0, 1, 1023, 1024, 1040]) {
    const id = rows[seq]?.attestationId as number
    const before = database.prepare('SELECT * FROM subject WHERE attestation_id = ?').get(id) ?? {}
    const changes = [
      ["address = address || '1'", /address beside/],
      ["salt = x'00'", /salt beside/],
      ['salt = zeroblob(32)', /address beside/],
      [`context = '{"a":2}'`, /context beside/],
    ] as const
    for (const [change, reason] of changes) {
      database.exec(`UPDATE subject SET ${change} WHERE attestation_id = ${id}`)
      t.match(await audit(), { log: 't/a', seq, attestationId: id, reason }, `${change} of record ${seq}`)
      const { address, salt, context } = before
      database
        .prepare('UPDATE subject SET address = ?, salt = ?, context = ? WHERE attestation_id = ?')
        .run(address ?? null, salt ?? null, context ?? null, id)
    }
  }
  database.exec(`DELETE FROM subject WHERE attestation_id = ${last?.attestationId}`)
  t.equal(await audit(), undefined, 'one that was erased is none that was changed')
})
