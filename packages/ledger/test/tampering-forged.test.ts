import t from 'tap'
import {
  type AuditReport,
  auditLedger,
  type Head,
  openFrontier,
  readDocument,
  type StoredRecord,
  type Subject,
} from '../src/index.ts'
import {
  append,
  MADE_ATTESTATION,
  MADE_DATASETS,
  MADE_POLICY,
  type MemoryLedger,
  madeDraft,
} from '../src/testing/index.ts'
import { leafHash } from '../src/verify/hash.ts'
import { openMade, setRow } from './made-ports.ts'

/* Forgeries made to fit as far as a forger can: the record is rewritten with every hash after it, and no checkpoint covers it yet. */

const SECOND_POLICY = readDocument({ id: 'second', rules: [] })
const SECOND_DATASETS = readDocument([{ id: 'second', date: '2026-11-02', sha256: 'cd'.repeat(32) }])

const makeLedger = () => openMade({}, SECOND_POLICY, SECOND_DATASETS)

async function openTen(): Promise<MemoryLedger> {
  const { store, ledger } = await makeLedger()
  for (let count = 0; count < 10; count++) await ledger.attest('t/a', MADE_ATTESTATION, { address: '192.0.2.1' })
  return store
}

const audit = (store: MemoryLedger): Promise<AuditReport> => auditLedger(store, { subjects: true })

/** Changes what a log says from `seq` on, and every link and the head with it. */
function forge(store: MemoryLedger, seq: number, change: (text: string, row: StoredRecord) => string): void {
  const tree = openFrontier()
  let link: string | undefined
  for (const [at, row] of store.rows.entries()) {
    if (row.log !== 't/a') continue
    let text = Buffer.from(row.bytes).toString('latin1')
    if (link !== undefined) text = text.replace(/"prev":"[0-9a-f]{64}"/, `"prev":"${link}"`)
    if (row.seq === seq) text = change(text, row)
    const bytes = Buffer.from(text, 'latin1')
    store.rows[at] = { ...row, bytes }
    const leaf = leafHash(bytes)
    link = leaf.toString('hex')
    tree.append(leaf)
  }
  const head = store.ends.get('t/a') as Head
  store.ends.set('t/a', { ...head, link: link as string, peaks: tree.encode() })
}

const findId = (store: MemoryLedger, seq: number): number =>
  (store.rows.find((row) => row.log === 't/a' && row.seq === seq) as StoredRecord).attestationId

/** Writes a forgery that replaces a part of the text of a record. */
const replacing =
  (part: RegExp | string, by: string) =>
  (store: MemoryLedger, seq: number): void =>
    forge(store, seq, (text) => text.replace(part, by))

type Forgery = readonly [name: string, tamper: (store: MemoryLedger, seq: number) => void, reason: RegExp]

const PLACE = /lies at another place than it names/
const ADDRESS = /address beside the record/
const LINK = /not the one that the next record links to/
const EARLIER = /earlier time than the one before/

const FORGERIES: readonly Forgery[] = [
  ['another position', replacing(/"seq":\d+/, '"seq":77'), PLACE],
  ['a longer position', replacing(/"seq":\d+/, '$&0'), PLACE],
  ['a position with a zero before', replacing('"seq":', '$&0'), PLACE],
  ['another id', replacing(/_id":\d+/, '_id":77'), PLACE],
  ['a longer id', replacing(/_id":\d+/, '$&0'), PLACE],
  ['an id that is not its first member', replacing('{', '{ '), PLACE],
  [
    'another position, and put there',
    (store, seq) => {
      replacing(/"seq":\d+/, '"seq":8')(store, seq)
      setRow(store, seq, { seq: 8 })
    },
    /Record \d is missing/,
  ],
  ...['2026-11-21T01:59:59.999Z', '2025-12-31T23:59:59.999Z', '0000-01-01T00:00:00.000Z'].map(
    (moment): Forgery => [`the time ${moment}`, replacing(/"issued_at":"[^"]*/, `"issued_at":"${moment}`), EARLIER],
  ),
  ['no time', replacing('"issued_at"', '"issued_by"'), /does not say when/],
  ['half a time', replacing(/"issued_at":"[^"]*/, '"issued_at":"2026-11-21'), /does not say when/],
  [
    'the id of the one before',
    (store, seq) => {
      const attestationId = findId(store, seq - 1)
      setRow(store, seq, { attestationId })
      replacing(/_id":\d+/, `_id":${attestationId}`)(store, seq)
    },
    /ids do not rise/,
  ],
  ['another link', replacing(/"prev":"[0-9a-f]/, '"prev":"x'), LINK],
  ['the end of another link', replacing(/[0-9a-f]","seq/, 'x","seq'), LINK],
  ['another commitment to the address', replacing(/"commit":"[0-9a-f]/, '"commit":"x'), ADDRESS],
  ['the commitment in another member', replacing('"subject":', '"sXbject":'), ADDRESS],
  [
    'a context that nobody kept',
    replacing('"finding":', `"context_sha256":"${'0'.repeat(64)}","finding":`),
    /context beside the record/,
  ],
  ['a policy that nobody kept', replacing(MADE_POLICY.sha256, '1'.repeat(64)), /The document 1+ is missing/],
  ['data that nobody kept', replacing(MADE_DATASETS.sha256, '2'.repeat(64)), /The document 2+ is missing/],
]

t.test('each forged record is found, but for one that fits in everything', async (t) => {
  const fitting = await openTen()
  replacing('"jurisdiction":"DE"', '"jurisdiction":"FR"')(fitting, 5)
  t.equal((await audit(fitting)).fault, undefined, 'the others are found by what they are forged in')
  for (const [name, tamper, reason] of FORGERIES)
    for (const seq of [1, 5, 9]) {
      const store = await openTen()
      tamper(store, seq)
      const { fault } = await audit(store)
      t.match(fault?.reason ?? 'nothing', reason, `${name}, record ${seq}`)
      // A link that does not fit is blamed on the record before: this one fits what comes after.
      const named = reason === LINK ? seq - 1 : seq
      if (!reason.source.includes('document')) t.match(fault, { log: 't/a', seq: named }, `${name}, record ${seq}`)
    }
})

t.test('times that rise, or stay, are good; a later one is not taken for what the next may be before', async (t) => {
  const { store, ledger, setTime } = await makeLedger()
  const first = Date.parse('2026-11-21T02:00:00.000Z')
  for (const moment of [first, first, first + 999, Date.parse('2027-01-01T00:00:00.000Z')]) {
    setTime(moment)
    await ledger.attest('t/a', MADE_ATTESTATION, { address: '192.0.2.1' })
  }
  t.equal((await audit(store)).fault, undefined)
  // A head that was set back leaves no trace once a record has followed it, but the time of that record.
  store.ends.set('t/a', { ...(store.ends.get('t/a') as Head), issuedAt: 0 })
  await append(store, [madeDraft('t/a', '192.0.2.1', Date.parse('2026-12-31T23:59:59.999Z'))])
  t.match((await audit(store)).fault, { log: 't/a', seq: 4, reason: EARLIER })
})

/** Records of all shapes, none of which is like the one before. */
async function openMixed(): Promise<MemoryLedger> {
  const { store, ledger } = await makeLedger()
  for (let count = 0; count < 24; count++) {
    const { finding, policy, basis } = MADE_ATTESTATION
    const { country: _, ...nowhere } = finding
    const attestation = {
      claim: count % 5 === 0 ? 'EU-long' : 'DE',
      finding: count % 2 === 0 ? finding : nowhere,
      policy: count % 3 === 0 ? policy : { ...policy, reason: 'else', sha256: SECOND_POLICY.sha256 },
      basis: {
        ...basis,
        addressFrom: count % 4 === 0 ? 'peer' : 'x-forwarded-for',
        datasetsSha256: count % 6 === 5 ? SECOND_DATASETS.sha256 : basis.datasetsSha256,
      },
    }
    const subject = { address: count % 2 === 0 ? '192.0.2.1' : '2001:db8::1:2' }
    await ledger.attest('t/a', attestation, count % 4 < 2 ? subject : { ...subject, context: `{"order":"é${count}"}` })
  }
  return store
}

t.test('records that are not like the one before pass, and their changes are found like any other', async (t) => {
  const whole = await openMixed()
  t.equal((await audit(whole)).fault, undefined)
  for (const document of [MADE_POLICY, SECOND_POLICY, MADE_DATASETS, SECOND_DATASETS]) {
    const store = {
      ...whole,
      document: async (hash: string) => (hash === document.sha256 ? '{}' : whole.document(hash)),
    }
    t.match((await audit(store)).fault?.reason ?? 'nothing', new RegExp(`${document.sha256} .* changed`))
  }
  for (let seq = 0; seq < 24; seq++) {
    const id = findId(whole, seq)
    const subject = whole.personal.get(id) as Subject
    const changes: readonly (readonly [(subject: Subject) => Subject, RegExp])[] = [
      [(subject) => ({ ...subject, address: `${subject.address}1` }), /address beside/],
      [(subject) => ({ ...subject, salt: Buffer.alloc(32, 7) }), /address beside/],
      [
        ({ salt, address, ...rest }) => {
          const longer = Buffer.concat([salt, Buffer.from(address.slice(0, 1))])
          return { ...rest, salt: longer, address: address.slice(1) }
        },
        /salt beside/,
      ],
      [(subject) => ({ ...subject, context: '{"order":"é-1"}' }), /context beside/],
      [({ context, ...rest }) => (context === undefined ? { ...rest, context: '' } : rest), /context/],
    ]
    for (const [change, reason] of changes) {
      whole.personal.set(id, change(subject))
      t.match((await audit(whole)).fault, { seq, attestationId: id, reason }, `record ${seq}`)
      whole.personal.set(id, subject)
    }
  }
  t.equal((await audit(whole)).fault, undefined, 'put right again')
  whole.personal.delete(findId(whole, 2))
  t.equal((await audit(whole)).fault, undefined, 'erased, with its context')
})
