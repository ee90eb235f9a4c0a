import t from 'tap'
import { auditLedger, openLedger } from '../src/index.ts'
import {
  append,
  createMemoryLedger,
  MADE_ATTESTATION,
  MADE_DATASETS,
  MADE_POLICY,
  madeDraft,
  madeSigner,
} from '../src/testing/index.ts'
import { verifyEvidence } from '../src/verify/index.ts'
import { isSignedBy, parseCheckpoint } from '../src/verify/note.ts'
import { AT, madePorts, ORIGIN, openMade } from './made-ports.ts'

const SUBJECT = { address: '192.0.2.1' }

t.test('two that open a new ledger at once agree on its first key', async (t) => {
  const ports = madePorts({})
  const ledgers = await Promise.all([openLedger(ports), openLedger(ports)])
  const keys = await Promise.all(ledgers.map((ledger) => ledger.keys()))
  t.equal(keys[0]?.keys.length, 1)
  t.same(keys[0], keys[1])
})

t.test('checkpoints are kept in the store and outside it; a restart signs what was left unsigned', async (t) => {
  const ports = madePorts({})
  const { archive, store } = ports
  const ledger = await openLedger(ports)
  for (const log of ['t/a', 't/b', 't/a']) await ledger.attest(log, MADE_ATTESTATION, SUBJECT)
  await ledger.checkpoint()
  t.same([...archive.notes.keys()].sort(), ['keys', 't/a', 't/b'])
  t.equal(archive.notes.get('t/a'), (await store.checkpoints('t/a', 0)).newest)
  t.equal(parseCheckpoint(archive.notes.get('t/a') ?? '')?.size, 2)
  await ledger.attest('t/a', MADE_ATTESTATION, SUBJECT)
  t.equal((await store.uncovered(10)).length, 1)
  await openLedger(ports)
  t.same(await store.uncovered(10), [])
})

t.test('a checkpoint ends although a log grows meanwhile, and the rest is for the next one', async (t) => {
  const ports = madePorts({})
  const { store } = ports
  let signed = 0
  const growing = {
    ...store,
    async putCheckpoint(...asked: Parameters<typeof store.putCheckpoint>) {
      const kept = await store.putCheckpoint(...asked)
      if (asked[0].log === 't/a' && ++signed < 20) await append(store, [madeDraft('t/a')])
      return kept
    },
  }
  const ledger = await openLedger({ ...ports, store: growing })
  for (const log of ['t/a', 't/b']) await ledger.attest(log, MADE_ATTESTATION, SUBJECT)
  await ledger.checkpoint()
  t.ok(signed <= 2, `signed ${signed} times`)
  const left = (await store.uncovered(10)).map(({ log, size, covered }) => [log, size - covered])
  t.same(left, [['t/a', 1]])
})

t.test('a key that is not the ledger’s own is refused, and says how to go on', async (t) => {
  const ports = madePorts({})
  await openLedger(ports)
  const refused = { name: 'LedgerRefused', message: /not the current key of the ledger.*rotate-signing/s }
  await t.rejects(openLedger({ ...ports, loadSigner: async () => madeSigner(2) }), refused)
})

t.test('another process that rotates is followed, and its old key signs nothing more', async (t) => {
  const ports = madePorts({})
  let current = madeSigner(1)
  const first = await openLedger({ ...ports, loadSigner: async () => current })
  for (const document of [MADE_POLICY, MADE_DATASETS]) await first.keep(document)
  await first.attest('t/a', MADE_ATTESTATION, SUBJECT)
  await first.checkpoint()
  const second = await openLedger(ports)
  await second.rotate(madeSigner(2), false)
  const newest = async () => parseCheckpoint((await ports.store.checkpoints('t/a', 0)).newest ?? '')
  const isSignedBySecond = async () => isSignedBy((await newest()) as never, ORIGIN, madeSigner(2).publicKey)
  t.equal(await isSignedBySecond(), true, 'what was signed is signed again')

  await first.attest('t/a', MADE_ATTESTATION, SUBJECT)
  for (let time = 0; time < 2; time++) {
    await t.rejects(first.checkpoint(), { name: 'LedgerRefused' }, 'without the new key it signs nothing')
    await first.keys()
  }
  current = madeSigner(2)
  await first.checkpoint()
  t.equal((await newest())?.size, 2)
  t.equal(await isSignedBySecond(), true, 'and then by the new one')
  const evidence = await first.evidence('t/a', { attestationId: 4 })
  t.match(verifyEvidence(evidence, await second.keys()), { ok: true, axes: { authenticity: { outcome: 'pass' } } })
  t.match(verifyEvidence({ ...evidence, checkpoint: 'x' }).axes.format.detail, /^checkpoint: not a checkpoint/)
  t.equal((await auditLedger(ports.store)).fault, undefined)
})

t.test('one of two that rotate at once is refused', async (t) => {
  const ports = madePorts({})
  const ledgers = await Promise.all([openLedger(ports), openLedger(ports)])
  const outcomes = await Promise.allSettled(ledgers.map((ledger, at) => ledger.rotate(madeSigner(2 + at), false)))
  t.same(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  t.equal((await ledgers[0]?.keys())?.keys.length, 2)
})

t.test('a store that is down is unavailable, and nothing has an id', async (t) => {
  let down = false
  const store = createMemoryLedger(ORIGIN)
  const commit: typeof store.commit = (...given) => (down ? Promise.reject(new Error('down')) : store.commit(...given))
  const ledger = await openLedger(madePorts({ store: { ...store, commit } }))
  down = true
  const before = store.rows.length
  await t.rejects(ledger.attest('t/a', MADE_ATTESTATION, SUBJECT), { name: 'LedgerUnavailable' })
  t.equal(store.rows.length, before)
  down = false
  t.match(await ledger.attest('t/a', MADE_ATTESTATION, SUBJECT), { seq: 0 })
})

t.test('a range that is too wide is refused, and one within it is whole', async (t) => {
  const { ledger, pass } = await openMade()
  for (let count = 0; count < 1010; count++) {
    pass(1)
    await ledger.attest('t/a', MADE_ATTESTATION, SUBJECT)
  }
  const at = (ms: number) => new Date(AT + ms).toISOString()
  await t.rejects(ledger.evidence('t/a', { from: at(0), to: at(2000) }), { name: 'RangeTooWide' })
  const evidence = await ledger.evidence('t/a', { from: at(500), to: at(520) })
  t.equal(evidence?.records.length, 23, 'with the record before and after')
  t.match(verifyEvidence(evidence, await ledger.keys()), { ok: true, axes: { completeness: { outcome: 'pass' } } })
  t.equal(await ledger.evidence('t/a', { from: at(5000), to: at(6000) }), undefined)
  t.equal(await ledger.evidence('t/none', { from: at(0), to: at(6000) }), undefined)
})
