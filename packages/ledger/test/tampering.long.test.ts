import t from 'tap'
import { auditLedger, type Head, openLedger, type StoredRecord } from '../src/index.ts'
import {
  createMemoryLedger,
  MADE_ATTESTATION,
  MADE_DATASETS,
  type MemoryLedger,
  madeSigner,
} from '../src/testing/index.ts'
import { AT, madePorts, openMade, setRow } from './made-ports.ts'

/** The distance of the bytes that are flipped for a whole audit: `npm run fault` flips every byte, which takes minutes. */
const FLIP_EVERY = process.env['TEST_LENGTH'] === 'full' ? 1 : 200

type Made = Awaited<ReturnType<typeof openAttesting>>

async function openAttesting() {
  const made = await openMade()
  return {
    ...made,
    async attest(log: string, count: number, claim = MADE_ATTESTATION.claim) {
      const statement = { ...MADE_ATTESTATION, claim }
      for (let done = 0; done < count; done++) await made.ledger.attest(log, statement, { address: '192.0.2.1' })
    },
  }
}

/** Opens a ledger of some records of one log under a checkpoint. */
async function openCovered(count: number): Promise<Made> {
  const whole = await openAttesting()
  await whole.attest('t/a', count)
  await whole.ledger.checkpoint()
  return whole
}

const audit = ({ store, archive }: Pick<Made, 'store' | 'archive'>) => auditLedger(store, { archive, subjects: true })

t.test('a ledger that nobody touched is good, and is counted', async (t) => {
  const whole = await openAttesting()
  await whole.attest('t/a', 300)
  await whole.ledger.checkpoint()
  await whole.attest('t/a', 3)
  await whole.attest('t/b', 1)
  const progress: number[] = []
  const report = await auditLedger(whole.store, { onProgress: (done, total) => progress.push(done, total) })
  t.same(report, { logs: 3, records: 305, checkpoints: 2 })
  t.same(progress.slice(-2), [305, 305])
  await openLedger(whole.ports)
  t.equal((await audit(whole)).fault, undefined, 'and opened again')
})

t.test('every byte of a ledger of 200 records is watched', async (t) => {
  const whole = await openAttesting()
  await whole.attest('t/a', 200)
  await whole.ledger.checkpoint()
  const rows = whole.store.rows.filter(({ log }) => log === 't/a')
  // Every byte of some records (`npm run fault`: of all), and of the last, which only head and checkpoint follow.
  const places = rows
    .filter(({ seq }) => seq % FLIP_EVERY === 0 || seq === rows.length - 1)
    .flatMap(({ seq, bytes }) => Array.from(bytes, (_, at) => [seq, at] as const))
  const missed: string[] = []
  for (const [seq, at] of places) {
    const row = rows[seq] as StoredRecord
    const bytes = Buffer.from(row.bytes)
    bytes[at] = (bytes[at] as number) ^ (1 << (at % 8))
    setRow(whole.store, seq, { bytes })
    const { fault } = await audit(whole)
    const named = fault?.log === 't/a' && fault.seq === seq && fault.attestationId === row.attestationId
    if (!named) missed.push(`${seq}/${at}: ${fault?.seq} ${fault?.reason}`)
    setRow(whole.store, seq, { bytes: row.bytes })
  }
  t.same(missed, [], `${places.length} bytes through the whole audit`)
  t.equal((await audit(whole)).fault, undefined, 'put right again')
})

const setHead = (store: MemoryLedger, change: (head: Head) => Partial<Head>) => {
  const head = store.ends.get('t/a') as Head
  store.ends.set('t/a', { ...head, ...change(head) })
}

const TAMPERINGS: readonly (readonly [string, (store: MemoryLedger) => void, RegExp])[] = [
  [
    'a record is taken out',
    ({ rows }) => rows.splice(0, rows.length, ...rows.filter(({ seq, log }) => log !== 't/a' || seq !== 4)),
    /Record 4 is missing/,
  ],
  [
    'two records are swapped',
    (store) => {
      const [x, y] = [4, 5].map((seq) => store.rows.find((row) => row.log === 't/a' && row.seq === seq)?.bytes)
      if (x !== undefined) setRow(store, 5, { bytes: x })
      if (y !== undefined) setRow(store, 4, { bytes: y })
    },
    /does not link/,
  ],
  ['a record is put elsewhere', (store) => setRow(store, 6, { attestationId: 99 }), /another place/],
  [
    'the head is changed',
    (store) => setHead(store, ({ peaks }) => ({ peaks: Buffer.alloc(peaks.length) })),
    /head of the log does not fit/,
  ],
  ['the time of the head is set back', (store) => setHead(store, () => ({ issuedAt: AT - 1 })), /another time/],
  ['a data list is taken out', (store) => store.texts.delete(MADE_DATASETS.sha256), /document .* missing/],
  [
    'a checkpoint is forged',
    ({ notes }) => {
      const forge = (note: string) => note.replace(/[A-Za-z0-9+/]{8}=*\n$/, 'AAAAAAA=\n')
      const forged = notes.map((kept) => (kept.log === 't/a' ? { ...kept, note: forge(kept.note) } : kept))
      notes.splice(0, notes.length, ...forged)
    },
    /checkpoint at size 10/,
  ],
  [
    'a record is put behind the end',
    (store) => store.rows.push({ log: 't/a', seq: 10, attestationId: 99, bytes: Buffer.from('{}') }),
    /beyond the head/,
  ],
  ['the checkpoints are taken out', ({ notes }) => notes.splice(0), /outside the database and not in it/],
  ['a log is taken out', (store) => store.ends.delete('t/b'), /a checkpoint of this log, and no log/],
]

t.test('the audit says what was tampered with', async (t) => {
  for (const [name, tamper, reason] of TAMPERINGS) {
    const whole = await openAttesting()
    await whole.attest('t/a', 10)
    await whole.attest('t/b', 2)
    await whole.ledger.checkpoint()
    tamper(whole.store)
    t.match((await audit(whole)).fault?.reason ?? 'nothing', reason, name)
  }
})

t.test('a ledger that grows, and whose key is handed over, while it is walked is good', async (t) => {
  const whole = await openAttesting()
  await whole.attest('t/a', 300)
  await whole.ledger.checkpoint()
  let steps = 0
  /** Every answer of the store comes when the ledger has gone on. */
  async function goOn(): Promise<void> {
    steps++
    await whole.attest('t/a', 60)
    if (steps === 3) await whole.ledger.rotate(madeSigner(2), false)
    else await whole.ledger.checkpoint()
  }
  const busy: typeof whole.store = {
    ...whole.store,
    records: async (...asked) => {
      const found = await whole.store.records(...asked)
      await goOn()
      return found
    },
    tile: async (...asked) => {
      await goOn()
      return whole.store.tile(...asked)
    },
    heads: async (...asked) => {
      const found = await whole.store.heads(...asked)
      if (steps < 6) await goOn()
      return found
    },
  }
  const report = await auditLedger(busy, { archive: whole.archive, subjects: true })
  t.equal(report.fault, undefined)
  t.ok(steps > 4 && report.records > 300, `${steps} times, ${report.records} records`)
})

t.test('the record that was changed is named, and not the one that shows it', async (t) => {
  for (const seq of [0, 1, 1023, 1024, 1028, 1029]) {
    const whole = await openAttesting()
    await whole.attest('t/a', 1030)
    const row = whole.store.rows.find((found) => found.log === 't/a' && found.seq === seq) as StoredRecord
    const text = String(Buffer.from(row.bytes))
    const bytes = Buffer.from(text.replace('"claim":{"jurisdiction":"DE"', '"claim":{"jurisdiction":"FR"'))
    t.notSame(bytes, row.bytes)
    setRow(whole.store, seq, { bytes })
    t.match((await audit(whole)).fault, { log: 't/a', seq, attestationId: row.attestationId }, `record ${seq}`)
  }
})

t.test('a database that does not continue its checkpoints is refused at the next start', async (t) => {
  for (const [count, left, claim, message] of [
    [10, 7, 'DE', /says that t\/a has 10 records; the database has 7/],
    [3, 2, 'DE', /cut short or is old/],
    [5, 5, 'FR', /does not fit the first 5 records of t\/a: they were changed/],
  ] as const) {
    const { archive } = await openCovered(count)
    const { store, attest } = await openAttesting()
    await attest('t/a', left, claim)
    await t.rejects(openLedger(madePorts({ store, archive })), { name: 'LedgerRefused', message })
    const reason = count > left ? 'A checkpoint says' : /checkpoint/
    t.match((await audit({ store, archive })).fault, { log: 't/a', reason })
    const fresh = createMemoryLedger('sallyport/fedcba9876543210')
    const other = { name: 'LedgerRefused', message: /of another ledger/ }
    await t.rejects(openLedger(madePorts({ store: fresh, archive })), other)
  }
})

t.test('records changed and every hash after them made to fit still meet the checkpoint', async (t) => {
  const whole = await openCovered(5)
  const { store, attest } = await openAttesting()
  await attest('t/a', 1, 'FR')
  await attest('t/a', 4)
  store.notes.splice(0, store.notes.length, ...whole.store.notes)
  const reason = /The checkpoint at size 5 does not fit/
  t.match((await audit({ store, archive: whole.archive })).fault, { log: 't/a', reason })
})
