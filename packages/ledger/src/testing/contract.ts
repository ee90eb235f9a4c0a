import { placeBatch } from '../batch.ts'
import { type Committer, createCommitter } from '../committer.ts'
import { type LedgerStore, readHead } from '../ports.ts'
import { type Draft, draftAttestation } from '../record.ts'
import { draftFirstKey, KEY_LOG } from '../signing.ts'
import { createProver, openFrontier } from '../tree.ts'
import { leafHash } from '../verify/hash.ts'
import { parseRecord } from '../verify/record.ts'
import { foldPath, sameBytes } from '../verify/tree.ts'
import { MADE_ATTESTATION, madeSigner } from './made.ts'

/** Lists the assertions that a contract row needs; a test of tap has them. */
export interface Check {
  equal(found: unknown, wanted: unknown, ...name: [] | [string]): unknown
  same(found: unknown, wanted: unknown, ...name: [] | [string]): unknown
}

/** States one sentence of the contract; `run` receives an empty store. */
export interface LedgerRow {
  readonly name: string
  run(store: LedgerStore, check: Check): Promise<void>
}

function makeRow(name: string, run: LedgerRow['run']): LedgerRow {
  return { name, run }
}

const AT = Date.parse('2026-11-21T02:00:00.123Z')

/** Makes the draft of an attestation about an address, from which it derives the salt. */
export function madeDraft(log: string, address = '203.0.113.7', at = AT, context?: string): Draft {
  const salt = Buffer.alloc(32, address)
  const subject = { address, salt, ...(context === undefined ? {} : { context }) }
  return draftAttestation(log, at, MADE_ATTESTATION, subject)
}

/** Appends in order, as a separate process that knows nothing of the store. */
export function append(store: LedgerStore, ...asked: Parameters<Committer['commit']>): ReturnType<Committer['commit']> {
  return createCommitter(store).commit(...asked)
}

/** Appends `count` drafts in commits of up to 300. */
export async function appendMany(store: LedgerStore, log: string, count: number): Promise<void> {
  for (let done = 0; done < count; ) {
    const length = Math.min(300, count - done)
    const drafts = Array.from({ length }, (_, index) => madeDraft(log, `2001:db8::${done + index}`))
    await append(store, drafts)
    done += length
  }
}

/** Lists the ids of these records whose subjects were not erased. */
async function listSubjects(store: LedgerStore, ids: readonly number[]): Promise<readonly number[]> {
  return [...(await store.subjects(ids)).keys()].toSorted((x, y) => x - y)
}

/** Lists the contract of `LedgerStore`: the same rows run against every implementation. */
export const LEDGER_CONTRACT: readonly LedgerRow[] = [
  makeRow('records get rising ids, a place in their own log, and a link to the one before', async (store, check) => {
    const places = await append(store, [madeDraft('t/a'), madeDraft('t/b'), madeDraft('t/a')])
    check.same(places, [
      { attestationId: 1, seq: 0 },
      { attestationId: 2, seq: 0 },
      { attestationId: 3, seq: 1 },
    ])
    check.same(await append(store, [madeDraft('t/b')]), [{ attestationId: 4, seq: 1 }])
    const [first, second] = await store.records('t/a', 0, 10)
    if (first === undefined || second === undefined) throw new Error('no records')
    const { place } = parseRecord(second.bytes)
    check.same([place.log, place.seq, place.attestationId], [`${store.origin}/t/a`, 1, 3])
    check.equal(place.prev, leafHash(first.bytes).toString('hex'))
    check.equal((await readHead(store, 't/a'))?.link, leafHash(second.bytes).toString('hex'))
    check.same((await store.logs()).toSorted(), ['t/a', 't/b'])
    check.equal(await readHead(store, 't/none'), undefined)
  }),
  makeRow('a record is found by its id in its own log alone', async (store, check) => {
    await append(store, [madeDraft('t/a'), madeDraft('t/b')])
    check.equal((await store.find(2, 't/b'))?.seq, 0)
    check.equal(await store.find(2, 't/a'), undefined)
    check.equal(await store.find(3, 't/a'), undefined)
  }),
  makeRow('an append that expects another size does nothing', async (store, check) => {
    await append(store, [madeDraft('t/a')])
    check.equal(await append(store, [madeDraft('t/a')], { log: 't/a', size: 0 }), undefined)
    check.same(await append(store, [madeDraft('t/a')], { log: 't/a', size: 1 }), [{ attestationId: 2, seq: 1 }])
  }),
  makeRow('a commit on heads that are out of date writes nothing', async (store, check) => {
    await append(store, [madeDraft('t/a')])
    const stale = await store.heads(['t/a', 't/b'])
    check.same([stale.nextId, [...stale.logs.keys()]], [2, ['t/a']])
    await append(store, [madeDraft('t/b')])
    check.equal(await store.commit(placeBatch(store.origin, [madeDraft('t/a')], stale), stale), false)
    check.same([(await store.heads([])).nextId, (await store.records('t/a', 0, 10)).length], [3, 1])
    const fresh = await store.heads(['t/a'])
    check.equal(await store.commit(placeBatch(store.origin, [madeDraft('t/a')], fresh), fresh), true)
    check.equal(await store.commit(placeBatch(store.origin, [madeDraft('t/a')], fresh), fresh), false, 'once')
  }),
  makeRow('a reservation that nothing follows holds nobody up for long', async (store, check) => {
    await store.heads(['t/a'], true)
    check.same(await store.logs(), [], 'what reads goes on')
    await store.putDocument({ sha256: 'ab'.repeat(32), text: '{}' })
    check.same(await append(store, [madeDraft('t/a')]), [{ attestationId: 1, seq: 0 }])
    const reserved = await store.heads(['t/a'], true)
    check.equal(await store.commit(placeBatch(store.origin, [madeDraft('t/a')], reserved), reserved), true)
    check.same((await store.heads([])).nextId, 3)
  }),
  makeRow('time never goes back within a log', async (store, check) => {
    await append(store, [madeDraft('t/a', '192.0.2.1', AT)])
    await append(store, [madeDraft('t/a', '192.0.2.1', AT - 60_000), madeDraft('t/b', '192.0.2.1', AT - 60_000)])
    const times = async (log: string) =>
      (await store.records(log, 0, 10)).map(({ bytes }) => parseRecord(bytes).place.issuedAt)
    check.same(await times('t/a'), ['2026-11-21T02:00:00.123Z', '2026-11-21T02:00:00.123Z'])
    check.same(await times('t/b'), ['2026-11-21T01:59:00.123Z'])
  }),
  makeRow('tiles prove every record, over the edges of tiles', async (store, check) => {
    await appendMany(store, 't/a', 700)
    const size = 700
    const prover = createProver(store, 't/a')
    const tree = openFrontier(size, (await readHead(store, 't/a'))?.peaks)
    check.equal(sameBytes(await prover.root(size), tree.root()), true, 'the root')
    for (const seq of [0, 1, 255, 256, 511, 512, 698, 699]) {
      const [record] = await store.records('t/a', seq, 1)
      const path = await prover.inclusion(seq, size)
      const root = record && foldPath(leafHash(record.bytes), seq, size, path)
      check.equal(root !== undefined && sameBytes(root, tree.root()), true, `record ${seq}`)
    }
  }),
  makeRow('what has grown is uncovered, until a checkpoint replaces the last', async (store, check) => {
    await append(store, [draftFirstKey(madeSigner(1).publicKey, AT)])
    await append(store, [madeDraft('t/a'), madeDraft('t/b')])
    const sizes = async () =>
      (await store.uncovered(10)).map(({ log, size, covered }) => [log, size, covered]).toSorted()
    check.same(await sizes(), [
      [KEY_LOG, 1, 0],
      ['t/a', 1, 0],
      ['t/b', 1, 0],
    ])
    check.equal((await store.uncovered(1)).length, 1)
    const head = (size: number, note: string) => ({ log: 't/a', size, note })
    check.equal(await store.putCheckpoint(head(1, 'one'), 0, 1), true)
    check.equal(await store.putCheckpoint(head(1, 'again'), 0, 1), false, 'another was quicker')
    check.equal(await store.putCheckpoint(head(1, 'again'), 1, 2), false, 'the key has changed')
    await append(store, [madeDraft('t/a'), madeDraft('t/a')])
    check.equal(await store.putCheckpoint(head(3, 'three'), 1, 1), true)
    check.same(await store.checkpoints('t/a', 0), { newest: 'three', covering: 'one' })
    check.same(await store.checkpoints('t/a', 1), { newest: 'three', covering: 'three' })
    check.equal(await store.putCheckpoint(head(3, 'by a new key'), 3, 1), true)
    check.same(await store.allCheckpoints('t/a'), [head(1, 'one'), head(3, 'by a new key')])
    check.same(await store.checkpoints('t/b', 0), {})
    check.same(await sizes(), [
      [KEY_LOG, 1, 0],
      ['t/b', 1, 0],
    ])
  }),
  makeRow('a subject is there until it is erased, by address or by age', async (store, check) => {
    await append(store, [madeDraft('t/a', '192.0.2.1', AT, '{"a":1}'), madeDraft('t/b', '192.0.2.1', AT + 1)])
    await append(store, [madeDraft('t/a', '192.0.2.2', AT + 2)])
    const kept = () => listSubjects(store, [1, 2, 3, 4])
    const subject = (await store.subjects([1])).get(1)
    check.same([subject?.address, subject?.context, subject?.salt.length], ['192.0.2.1', '{"a":1}', 32])
    check.equal(await store.eraseBefore(AT + 1), 1)
    check.same(await kept(), [2, 3])
    check.equal(await store.eraseSubject('192.0.2.1'), 1)
    check.equal(await store.eraseSubject('192.0.2.1'), 0)
    check.same(await kept(), [3])
    check.equal((await store.records('t/a', 0, 10)).length, 2, 'the records stay')
  }),
  makeRow('an address is erased wherever it is, and none that looks like it', async (store, check) => {
    for (let count = 0; count < 70; count++) await append(store, [madeDraft('t/a', '192.0.2.1', AT)])
    const others = ['192.0.2.10', '2.192.0.2.1', '92.0.2.1', '192.0.2.', '::ffff:192.0.2.1']
    const drafts = others.map((address) => madeDraft('t/a', address, AT, '"from 192.0.2.1 on"'))
    await append(store, drafts)
    const mixed = [...others, '192.0.2.1', ...others].map((address) => madeDraft('t/b', address, AT))
    await append(store, mixed)
    check.equal(await store.eraseSubject('192.0.2.1'), 71)
    const ids = Array.from({ length: 70 + 5 + 11 }, (_, index) => index + 1)
    const left = ids.filter((id) => id > 70 && id !== 81)
    check.same(await listSubjects(store, ids), left)
    const kept = await store.subjects(ids)
    check.equal(kept.get(71)?.context, '"from 192.0.2.1 on"')
    check.same(Buffer.from(kept.get(86)?.salt ?? []), Buffer.alloc(32, '::ffff:192.0.2.1'))
  }),
  makeRow('what is kept of an address is found, in pages, until it is erased', async (store, check) => {
    await append(store, [madeDraft('t/a', '192.0.2.1', AT, '{"a":1}'), madeDraft('t/b', '192.0.2.10', AT)])
    await append(store, [madeDraft('t/b', '192.0.2.1', AT), madeDraft('t/a', '192.0.2.1', AT)])
    const about = async (after: number, count: number) =>
      (await store.recordsAbout('192.0.2.1', after, count)).map(({ log, attestationId, seq, context = '' }) =>
        [log, attestationId, seq, context].join(' '),
      )
    check.same(await about(0, 2), ['t/a 1 0 {"a":1}', 't/b 3 1 '])
    check.same(await about(3, 2), ['t/a 4 1 '])
    const [first] = await store.recordsAbout('192.0.2.1', 0, 1)
    check.same(Buffer.from(first?.bytes ?? []), Buffer.from((await store.find(1, 't/a'))?.bytes ?? []))
    await store.eraseSubject('192.0.2.1')
    check.same(await about(0, 9), [])
  }),
  makeRow('an address among several of a record is found, and erased with them', async (store, check) => {
    const lists = ['192.0.2.1 192.0.2.7', '192.0.2.10 192.0.2.7', '192.0.2.7', '192.0.2.8 2001:db8::1 2001:db8::2']
    const drafts = lists.map((addresses) => madeDraft('c/a', addresses, AT))
    await append(store, drafts)
    const about = async (address: string) =>
      (await store.recordsAbout(address, 0, 9)).map(({ attestationId }) => attestationId)
    check.same(await about('192.0.2.1'), [1])
    check.same(await about('192.0.2.7'), [1, 2, 3])
    check.same(await about('2001:db8::1'), [4])
    check.equal(await store.eraseSubject('192.0.2.7'), 3)
    check.same(await listSubjects(store, [1, 2, 3, 4]), [4])
    check.equal(await store.eraseSubject('2001:db8::2'), 1)
  }),
  makeRow('subjects are erased by age behind those of a clock that was ahead', async (store, check) => {
    const ahead = Array.from({ length: 1100 }, () => madeDraft('t/ahead', '192.0.2.1', AT + 1_000_000))
    await append(store, ahead)
    await append(store, [madeDraft('t/a', '192.0.2.2', AT), madeDraft('t/a', '192.0.2.2', AT + 2)])
    check.equal(await store.eraseBefore(AT + 1), 1)
    check.same(await listSubjects(store, [1, 1100, 1101, 1102]), [1, 1100, 1102])
  }),
  makeRow('a document is kept as it is', async (store, check) => {
    const document = { sha256: 'ab'.repeat(32), text: '{"é":"\\u0000"}' }
    for (let time = 0; time < 2; time++) await store.putDocument(document)
    check.equal(await store.document(document.sha256), document.text)
    check.equal(await store.document('cd'.repeat(32)), undefined)
  }),
]
