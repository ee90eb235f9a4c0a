import t from 'tap'
import { listNewestAnchors } from '../src/anchors.ts'
import { openLedger } from '../src/ledger.ts'
import type { Grown, LedgerStore, Stamp } from '../src/ports.ts'
import { MADE_ATTESTATION } from '../src/testing/index.ts'
import { type TimestampFinding, verifyEvidence } from '../src/verify/index.ts'
import { openMade } from './made-ports.ts'

const MINUTES = 60_000

const stamped = (timestamps: Readonly<Record<string, Uint8Array>>) => ({ timestamps, cosignatures: '' })

/** Opens a ledger that records at once, whose authority answers with the text that it stamps. */
async function anchored(stamp: Stamp = async (note) => stamped({ 'https://time.example/': Buffer.from(note) })) {
  let reason: string | undefined = 'https://time.example/: it does not respond'
  const asked: string[] = []
  const { ports, store, ledger, pass } = await openMade({
    stamp: (note: string, grown: Grown) => {
      asked.push(note)
      return stamp(note, grown)
    },
    unanchored: () => reason,
  })
  return {
    ...ledger,
    asked,
    store,
    ports,
    clear: () => {
      reason = undefined
    },
    pass,
    async attest(count: number, log = 't/a') {
      for (let at = 0; at < count; at++) {
        pass(1)
        await ledger.attest(log, MADE_ATTESTATION, { address: '192.0.2.1' })
      }
      await ledger.checkpoint()
    },
    async verify(attestationId: number, finding: TimestampFinding | undefined = GOOD) {
      const evidence = await ledger.evidence('t/a', { attestationId })
      const findings = finding === undefined ? undefined : () => finding
      return { evidence, report: verifyEvidence(JSON.stringify(evidence), await ledger.keys(), findings) }
    },
  }
}

const GOOD: TimestampFinding = { state: 'good', time: '2026-11-21T02:10:00.000Z', signer: 'made' }

t.test('a log is stamped when it has grown, and no more often than it may be', async (t) => {
  const ledger = await anchored()
  for (const [minutes, records, asked, why] of [
    [0, 0, 1, 'the log of keys'],
    [0, 3, 2, 'it has grown'],
    [0, 2, 2, 'ten minutes have not passed'],
    [10, 0, 3, 'they have'],
    [10, 0, 3, 'it has not grown; logs of anchors are not stamped'],
    [-3_600, 1, 4, 'a clock that was set back stops nothing'],
  ] as const) {
    ledger.pass(minutes * MINUTES)
    await ledger.attest(records)
    await ledger.anchor(10 * MINUTES)
    t.equal(ledger.asked.length, asked, why)
  }
})

t.test('evidence has the first timestamp that covers its records', async (t) => {
  const ledger = await anchored()
  for (const count of [3, 4, 2]) {
    await ledger.attest(count)
    await ledger.anchor(0)
  }
  const sizeFor = async (id: number) => {
    const { evidence, report } = await ledger.verify(id)
    const time = { outcome: 'pass', detail: /stamped the checkpoint at 2026-11-21T02:10/ }
    t.match(report, { ok: true, provedBefore: GOOD.time, axes: { time } })
    t.match(evidence?.media_type, /version=2$/)
    return Number(evidence?.anchors?.[0]?.checkpoint.split('\n')[1])
  }
  const ids = (await ledger.store.records('t/a', 0, 20)).map(({ attestationId }) => attestationId)
  t.same(await Promise.all(ids.map(sizeFor)), [3, 3, 3, 7, 7, 7, 7, 9, 9])
})

t.test('time is not provided where nothing covers the records, and the reason is passed on', async (t) => {
  const ledger = await anchored()
  await ledger.attest(1)
  const idAt = async (seq: number) => (await ledger.store.records('t/a', seq, 1))[0]?.attestationId ?? 0
  const reason = /without a signature: https:\/\/time\.example\/: it does not respond/
  const { report: first } = await ledger.verify(await idAt(0))
  t.match(first, { ok: true, axes: { time: { outcome: 'not_provided', detail: reason } } })
  await ledger.anchor(0)
  ledger.clear()
  await ledger.attest(1)
  const { report, evidence } = await ledger.verify(await idAt(1))
  t.match(report.axes.time, { outcome: 'not_provided', detail: 'No timestamp in the file covers these records.' })
  t.notOk('unanchored' in (evidence ?? {}))
  const range = await ledger.evidence('t/a', { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' })
  const partly = verifyEvidence(range, await ledger.keys(), () => GOOD)
  const some = /^1 of 2 records proved before 2026-11-21T02:10:00\.000Z/
  t.match(partly.axes.time, { outcome: 'not_provided', detail: some })
  t.notOk('provedBefore' in partly)
})

t.test('a ledger without authorities makes evidence of version 1, as ever', async (t) => {
  const ledger = await anchored()
  ledger.clear()
  await ledger.attest(1)
  const { evidence, report } = await ledger.verify(2)
  t.match(evidence?.media_type, /version=1$/)
  t.notOk('anchors' in (evidence ?? {}))
  t.match(report, { ok: true, axes: { time: { outcome: 'not_provided', detail: 'The file has no timestamp.' } } })
})

t.test('a finding decides the axis of time, and a bad one the whole', async (t) => {
  const ledger = await anchored()
  await ledger.attest(2)
  await ledger.anchor(0)
  const said = { time: GOOD.time, signer: 'made' }
  const bad = 'The timestamp of https://time.example/ is not valid: it is of other bytes.'
  for (const [finding, ok, outcome, detail] of [
    [{ state: 'bad', reason: 'it is of other bytes' }, false, 'fail', bad],
    [{ state: 'untrusted', ...said }, false, 'fail', /^No timestamp is signed by an authority that you trust: made/],
    [{ state: 'unknown', ...said }, true, 'not_provided', /nothing proves who that is/],
  ] as const)
    t.match((await ledger.verify(2, finding)).report, { ok, axes: { time: { outcome, detail } } })
  const unread = verifyEvidence(await ledger.evidence('t/a', { attestationId: 2 }), await ledger.keys())
  t.match(unread.axes.time, { outcome: 'not_provided', detail: 'No check ran for 1 timestamp in the file.' })
})

t.test('a checkpoint that the log does not continue is no anchor of it', async (t) => {
  const ledger = await anchored()
  await ledger.attest(2)
  await ledger.anchor(0)
  await ledger.attest(2)
  const other = await anchored()
  await other.attest(2, 't/b')
  const { evidence } = await ledger.verify(2)
  const [anchor] = evidence?.anchors ?? []
  const note = (await other.store.checkpoints('t/b', 0)).newest ?? ''
  const root = anchor?.checkpoint.split('\n')[2] ?? ''
  for (const changed of [
    note,
    note.replace('/t/b', '/t/a'),
    anchor?.checkpoint.replace(root, Buffer.alloc(32).toString('base64')),
  ]) {
    const anchors = [{ ...anchor, checkpoint: changed }]
    const report = verifyEvidence({ ...evidence, anchors }, await ledger.keys(), () => GOOD)
    const time = { outcome: 'fail', detail: /^The log does not continue the checkpoint at size 2/ }
    t.match(report, { ok: false, axes: { time } })
  }
  const format = { outcome: 'fail', detail: /^anchors/ }
  for (const anchors of [[{ ...anchor, timestamps: [] }], [{ ...anchor, more: 1 }], 'none', Array(17).fill(anchor)])
    t.match(verifyEvidence({ ...evidence, anchors }), { ok: false, axes: { format } })
  const old = { ...evidence, media_type: 'application/vnd.sallyport.evidence+json;version=1' }
  t.match(verifyEvidence(old).axes.format, { outcome: 'fail', detail: 'anchors: not a member of this form' })
})

t.test('an authority that is away leaves no anchor, and of two processes one anchors', async (t) => {
  const away = await anchored(async () => stamped({}))
  await away.attest(1)
  await away.anchor(0)
  t.same(await listNewestAnchors(away.store), [])
  const first = await anchored()
  await first.attest(1)
  const second = await openLedger(first.ports)
  await Promise.all([first.anchor(0), second.anchor(0)])
  const { logs } = await first.store.heads(['a/keys', 'a/t/a'])
  t.match([...logs.values()], [{ size: 1 }, { size: 1 }])
})

t.test('the newest anchor of each log is held against its records', async (t) => {
  const ledger = await anchored()
  await ledger.attest(5)
  await ledger.anchor(0)
  await ledger.attest(3)
  t.match(await listNewestAnchors(ledger.store), [
    { log: 'keys', size: 1, holds: true },
    { log: 't/a', size: 5, holds: true },
  ])
  const { store } = ledger
  const records: LedgerStore['tile'] = async (log, level, index) => {
    const tile = Buffer.from(await store.tile(log, level, index))
    if (log === 't/a') tile[0] = (tile[0] ?? 0) ^ 1
    return tile
  }
  t.match(await listNewestAnchors({ ...store, tile: records }), [{ holds: true }, { log: 't/a', holds: false }])
})
