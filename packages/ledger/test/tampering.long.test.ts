import t from 'tap'
import {
  type AuditReport,
  auditLedger,
  type Head,
  type Ledger,
  openLedger,
  type StoredRecord,
  type Subject,
} from '../src/index.ts'
import {
  type createMemoryArchive,
  createMemoryLedger,
  MADE_ATTESTATION,
  MADE_DATASETS,
  MADE_POLICY,
  type MemoryLedger,
  madeSigner,
} from '../src/testing/index.ts'
import { leafHash } from '../src/verify/hash.ts'
import { AT, madePorts } from './made-ports.ts'

/** The distance of the bytes that are flipped for a whole audit: `npm run fault` flips every byte, which takes minutes. */
const FLIP_EVERY = process.env['TEST_LENGTH'] === 'full' ? 1 : 200

interface Made {
  readonly store: MemoryLedger
  readonly archive: ReturnType<typeof createMemoryArchive>
  readonly ledger: Ledger
  attest(log: string, count: number): Promise<void>
  open(): Promise<Ledger>
}

async function openMade(): Promise<Made> {
  const ports = madePorts({})
  const { store, archive } = ports
  const ledger = await openLedger(ports)
  for (const document of [MADE_POLICY, MADE_DATASETS]) await ledger.keep(document)
  return {
    store,
    archive,
    ledger,
    async attest(log, count) {
      for (let done = 0; done < count; done++) await ledger.attest(log, MADE_ATTESTATION, { address: '192.0.2.1' })
    },
    open: () => openLedger(ports),
  }
}

/** Replaces the content of a row in the store. */
function replace(store: MemoryLedger, log: string, seq: number, change: Partial<StoredRecord>): void {
  const at = store.rows.findIndex((row) => row.log === log && row.seq === seq)
  store.rows[at] = { ...(store.rows[at] as StoredRecord), ...change }
}

const audit = ({ store, archive }: Pick<Made, 'store' | 'archive'>): Promise<AuditReport> =>
  auditLedger(store, { archive, subjects: true })

t.test('a ledger that nobody touched is good, and is counted', async (t) => {
  const whole = await openMade()
  await whole.attest('t/a', 300)
  await whole.ledger.checkpoint()
  await whole.attest('t/a', 3)
  await whole.attest('t/b', 1)
  const progress: number[] = []
  const report = await auditLedger(whole.store, { onProgress: (done, total) => progress.push(done, total) })
  t.same(report, { logs: 3, records: 305, checkpoints: 2 })
  t.same(progress.slice(-2), [305, 305])
  await whole.open()
  t.equal((await audit(whole)).fault, undefined, 'and opened again')
})

t.test('every byte of a ledger of 200 records is watched', async (t) => {
  const whole = await openMade()
  await whole.attest('t/a', 200)
  await whole.ledger.checkpoint()
  const rows = whole.store.rows.filter(({ log }) => log === 't/a')
  let flipped = 0
  let unseen = 0
  for (const [index, row] of rows.entries()) {
    // The records before a changed one are as they were, so the walk begins there: at it and at its successor.
    const next = rows[index + 1]
    const link = leafHash(row.bytes)
    for (let at = 0; at < row.bytes.length; at++) {
      const bytes = Buffer.from(row.bytes)
      bytes[at] = (bytes[at] as number) ^ (1 << (at % 8))
      flipped++
      const changed = leafHash(bytes).toString('hex')
      const linked =
        next === undefined ? readHead(whole).link === changed : Buffer.from(next.bytes).includes(`"prev":"${changed}"`)
      if (linked || link.toString('hex') === changed) unseen++
    }
  }
  t.equal(unseen, 0)
  t.ok(flipped > 100_000, `${flipped} bytes`)
  // The audit itself, on every byte of some records (`npm run fault`: of all), and of the last, which only head and checkpoint follow.
  const places = rows
    .filter(({ seq }) => seq % FLIP_EVERY === 0 || seq === rows.length - 1)
    .flatMap(({ seq, bytes }) => Array.from(bytes, (_, at) => [seq, at] as const))
  const missed: string[] = []
  for (const [seq, at] of places) {
    const row = rows[seq] as StoredRecord
    const bytes = Buffer.from(row.bytes)
    bytes[at] = (bytes[at] as number) ^ (1 << (at % 8))
    replace(whole.store, 't/a', seq, { bytes })
    const { fault } = await audit(whole)
    const named = fault?.log === 't/a' && fault.seq === seq && fault.attestationId === row.attestationId
    if (!named) missed.push(`${seq}/${at}: ${fault?.seq} ${fault?.reason}`)
    replace(whole.store, 't/a', seq, { bytes: row.bytes })
  }
  t.same(missed, [], `${places.length} bytes through the whole audit`)
  t.equal((await audit(whole)).fault, undefined, 'put right again')
})

function readHead({ store }: Made, log = 't/a'): Head {
  return store.ends.get(log) as Head
}

const TAMPERINGS: readonly (readonly [string, (store: MemoryLedger) => void, RegExp])[] = [
  [
    'a record is taken out',
    (store) =>
      store.rows.splice(
        store.rows.findIndex(({ seq, log }) => log === 't/a' && seq === 4),
        1,
      ),
    /Record 4 is missing/,
  ],
  [
    'two records are swapped',
    (store) => {
      const [x, y] = [4, 5].map((seq) => store.rows.find((row) => row.log === 't/a' && row.seq === seq)?.bytes)
      if (x !== undefined) replace(store, 't/a', 5, { bytes: x })
      if (y !== undefined) replace(store, 't/a', 4, { bytes: y })
    },
    /does not link/,
  ],
  ['a record is put elsewhere', (store) => replace(store, 't/a', 6, { attestationId: 99 }), /another place/],
  [
    'the head is changed',
    (store) => {
      const head = store.ends.get('t/a') as Head
      store.ends.set('t/a', { ...head, peaks: Buffer.alloc(head.peaks.length) })
    },
    /head of the log does not fit/,
  ],
  [
    'the time of the head is set back',
    (store) => store.ends.set('t/a', { ...(store.ends.get('t/a') as Head), issuedAt: AT - 1 }),
    /another time/,
  ],
  ['a policy is changed', (store) => store.texts.set(MADE_POLICY.sha256, '{}'), /document .* changed/],
  ['a data list is taken out', (store) => store.texts.delete(MADE_DATASETS.sha256), /document .* missing/],
  [
    'a checkpoint is forged',
    (store) => {
      const at = store.notes.findIndex(({ log }) => log === 't/a')
      const note = store.notes[at]
      if (note !== undefined)
        store.notes[at] = { ...note, note: note.note.replace(/[A-Za-z0-9+/]{8}=*\n$/, 'AAAAAAA=\n') }
    },
    /checkpoint at size 10/,
  ],
  [
    'a record is put behind the end',
    (store) => store.rows.push({ log: 't/a', seq: 10, attestationId: 99, bytes: Buffer.from('{}') }),
    /beyond the head/,
  ],
  [
    'the checkpoints in the database are taken out',
    (store) => store.notes.splice(0, store.notes.length),
    /outside the database and not in it/,
  ],
  [
    'an address is changed',
    (store) => store.personal.set(5, { ...(store.personal.get(5) as Subject), address: '192.0.2.2' }),
    /address beside the record/,
  ],
  [
    'a salt is changed',
    (store) => store.personal.set(5, { ...(store.personal.get(5) as Subject), salt: Buffer.alloc(32) }),
    /address beside the record/,
  ],
  [
    'a context is put beside a record without one',
    (store) => store.personal.set(5, { ...(store.personal.get(5) as Subject), context: '{}' }),
    /context beside the record/,
  ],
  ['a log is taken out', (store) => store.ends.delete('t/b'), /a checkpoint of this log, and no log/],
]

for (const [name, tamper, reason] of TAMPERINGS) {
  t.test(`${name}: the audit says so`, async (t) => {
    const whole = await openMade()
    await whole.attest('t/a', 10)
    await whole.attest('t/b', 2)
    await whole.ledger.checkpoint()
    tamper(whole.store)
    t.match((await audit(whole)).fault?.reason ?? 'nothing', reason)
  })
}

t.test('the audit names a context that was changed or taken out, and none that was erased', async (t) => {
  const whole = await openMade()
  for (const order of [1, 2]) {
    await whole.ledger.attest('t/a', MADE_ATTESTATION, { address: '192.0.2.1', context: `{"order":${order}}` })
  }
  t.equal((await audit(whole)).fault, undefined)
  const subject = whole.store.personal.get(3) as Subject
  const { context: _, ...without } = subject
  for (const changed of [without, { ...subject, context: '{"order":3}' }]) {
    whole.store.personal.set(3, changed)
    t.match((await audit(whole)).fault, { log: 't/a', seq: 1, attestationId: 3, reason: /context beside the record/ })
  }
  whole.store.personal.delete(3)
  t.equal((await audit(whole)).fault, undefined)
})

t.test('a ledger that grows, and whose key is handed over, while it is walked is good', async (t) => {
  const whole = await openMade()
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

/** Rewrites a log from `seq` on, as an attacker would who has the database and not the key. */
async function rewritten(size: number): Promise<MemoryLedger> {
  const other = await openMade()
  await other.attest('t/a', size)
  return other.store
}

t.test('the record that was changed is named, and not the one that shows it', async (t) => {
  for (const seq of [0, 1, 1023, 1024, 1028, 1029]) {
    const whole = await openMade()
    await whole.attest('t/a', 1030)
    const row = whole.store.rows.find((found) => found.log === 't/a' && found.seq === seq) as StoredRecord
    const bytes = Buffer.from(
      String(Buffer.from(row.bytes)).replace('"claim":{"jurisdiction":"DE"', '"claim":{"jurisdiction":"FR"'),
    )
    t.notSame(bytes, row.bytes)
    replace(whole.store, 't/a', seq, { bytes })
    t.match((await audit(whole)).fault, { log: 't/a', seq, attestationId: row.attestationId }, `record ${seq}`)
  }
})

t.test('the end cut off, with a head to match, is refused at the next start', async (t) => {
  const whole = await openMade()
  await whole.attest('t/a', 10)
  await whole.ledger.checkpoint()
  const short = await openMade()
  await short.attest('t/a', 7)
  const cut = { ...whole, store: short.store }
  await t.rejects(openLedger(madePorts({ store: cut.store, archive: whole.archive })), {
    name: 'LedgerRefused',
    message: /says that t\/a has 10 records; the database has 7/,
  })
  t.match((await audit(cut)).fault, { log: 't/a', reason: /A checkpoint says 10 records; the database has 7/ })
})

t.test("yesterday's copy is refused, and so is a new ledger under old checkpoints", async (t) => {
  const whole = await openMade()
  await whole.attest('t/a', 3)
  await whole.ledger.checkpoint()
  const ports = madePorts({ archive: whole.archive })
  const yesterday = await rewritten(2)
  await t.rejects(openLedger({ ...ports, store: yesterday }), { name: 'LedgerRefused', message: /cut short or is old/ })
  const fresh = createMemoryLedger('sallyport/fedcba9876543210')
  await t.rejects(openLedger({ ...ports, store: fresh }), { name: 'LedgerRefused', message: /of another ledger/ })
})

t.test('another history of the same length is refused', async (t) => {
  const whole = await openMade()
  await whole.attest('t/a', 5)
  await whole.ledger.checkpoint()
  const fork = await openMade()
  for (let count = 0; count < 5; count++) {
    await fork.ledger.attest('t/a', { ...MADE_ATTESTATION, claim: 'FR' }, { address: '192.0.2.9' })
  }
  await t.rejects(openLedger(madePorts({ store: fork.store, archive: whole.archive })), {
    name: 'LedgerRefused',
    message: /does not fit the first 5 records of t\/a: they were changed/,
  })
})

t.test('records changed and every hash after them made to fit still meet the checkpoint', async (t) => {
  const whole = await openMade()
  await whole.attest('t/a', 5)
  await whole.ledger.checkpoint()
  const forged = await openMade()
  await forged.ledger.attest('t/a', { ...MADE_ATTESTATION, claim: 'FR' }, { address: '192.0.2.1' })
  await forged.attest('t/a', 4)
  forged.store.notes.splice(0, forged.store.notes.length, ...whole.store.notes)
  t.match((await audit({ store: forged.store, archive: whole.archive })).fault, {
    log: 't/a',
    reason: /The checkpoint at size 5 does not fit/,
  })
})

t.test('a clock that goes back does not take the log with it', async (t) => {
  let now = AT
  const ports = madePorts({ clock: { now: () => now } })
  const { store } = ports
  const ledger = await openLedger(ports)
  for (const step of [1000, -3_600_000, 1, -31_536_000_000]) {
    now += step
    await ledger.attest('t/a', MADE_ATTESTATION, { address: '192.0.2.1' })
  }
  const times = store.rows
    .filter(({ log }) => log === 't/a')
    .map(({ bytes }) => /issued_at":"([^"]+)/.exec(String(bytes))?.[1])
  t.same(new Set(times), new Set(['2026-11-21T02:00:01.000Z']))
})
