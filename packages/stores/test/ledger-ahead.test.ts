import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { Draft, LedgerStore, Place } from '@sallyport/ledger'
import { madeDraft } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { openSqliteLedger } from '../src/index.ts'
import { createAheadPlacer } from '../src/ledger/placed-ahead.ts'
import { unpackPlaced } from '../src/ledger/placed-transit.ts'
import { areasOf, createSharedRecords, MOST_RECORDS, TRANSACTIONS } from '../src/ledger/shared-records.ts'
import { openLedgerFile } from '../src/ledger/sqlite-file.ts'
import { packDrafts } from '../src/ledger/transit.ts'
import { faultOf, openLedgerIn } from './ledger-place.ts'
import { temporaryFolder } from './processes.ts'

const LOGS = ['t/a', 't/b', 't/c']

/** Drafts of some logs, of which each has a subject of its own and some a context. */
function draftsOf(count: number, first = 0): readonly Draft[] {
  return Array.from({ length: count }, (_, index) => {
    const own = first + index
    const draft = madeDraft(own % 7 === 0 ? 't/b' : own % 11 === 0 ? 't/c' : 't/a')
    const subject = { address: `192.0.2.${own % 256}`, salt: hash('sha256', `${own}`, 'buffer') }
    return { ...draft, subject: own % 5 === 0 ? { ...subject, context: `{"ä":${own}}` } : subject }
  })
}

/** A file with the end of its logs known: the thread's side and the callers', in one. */
async function openBoth(t: Test) {
  const path = join(await temporaryFolder(t), 'ledger.db')
  const shared = createSharedRecords()
  const file = await openLedgerFile(path, shared)
  t.teardown(() => file.close())
  const placer = createAheadPlacer(file.origin, shared)
  const append = (drafts: readonly Draft[]) => {
    const appended = file.append(packDrafts(drafts))
    if (appended === undefined) throw new Error('not appended')
    return appended
  }
  const learn = (drafts: readonly Draft[]) => {
    const { firstId, positions, heads } = append(drafts)
    placer.learn(firstId, firstId + positions.length, heads)
  }
  const place = (drafts: readonly Draft[]) => {
    const placed = placer.place(drafts)
    if (placed === undefined) throw new Error('not placed')
    return placed
  }
  const write = (drafts: readonly Draft[]) => {
    const { area, packed } = place(drafts)
    const written = file.write(area, packed)
    Atomics.add(shared.done, area, 1)
    return written
  }
  // Twice: before the second it is not known whether anybody else comes in.
  for (let count = 0; count < 2; count++) learn(LOGS.map((log) => madeDraft(log)))
  return { path, file, placer, append, learn, place, write, shared }
}

/** Waits until records are placed ahead, which they are behind two appends. */
async function warm(store: LedgerStore): Promise<void> {
  for (let count = 0; count < 3; count++) await store.append(LOGS.map((log) => madeDraft(log)))
}

t.test('records that are placed ahead are those that the thread would have placed', async (t) => {
  const folder = await temporaryFolder(t)
  const { store, ledger } = await openLedgerIn(folder)
  t.teardown(() => store.close())
  await warm(store)
  const first = Number((await store.append([madeDraft('t/a')]))?.[0]?.attestationId) + 1
  const drafts = draftsOf(1200)
  const places: Place[] = []
  // Two at a time, and now and then one whose place is not known before.
  for (let start = 0; start < drafts.length; start += 100) {
    const both = [drafts.slice(start, start + 70), drafts.slice(start + 70, start + 100)]
    for (const given of await Promise.all(both.map((part) => store.append(part)))) places.push(...(given ?? []))
    if (start === 500) await store.append([madeDraft('t/new')])
  }
  t.equal(places.length, drafts.length)
  for (const [index, { attestationId, seq }] of places.entries()) {
    const { log, subject } = drafts[index] as Draft
    const record = await store.find(attestationId, log)
    if (record?.seq !== seq) t.fail(`${attestationId} is not at ${seq}`)
    if (index % 40 === 0) t.same((await store.subjects([attestationId])).get(attestationId), subject)
  }
  t.equal(places[0]?.attestationId, first)
  t.equal(new Set(places.map(({ attestationId }) => attestationId)).size, drafts.length)
  await ledger.checkpoint()
  t.equal(await faultOf(store, folder), undefined, 'chains, trees, subjects and checkpoints')
})

t.test('records that another has overtaken are not written, and nothing of them stays', async (t) => {
  const { file, append, place, write, learn } = await openBoth(t)
  t.equal(write([madeDraft('t/a'), madeDraft('t/b')]), 2)
  append([madeDraft('t/b')])
  const size = file.head('t/a')?.size
  t.equal(write([madeDraft('t/a'), madeDraft('t/b')]), 0, 'an id is taken')
  t.equal(file.head('t/a')?.size, size)
  learn([madeDraft('t/a'), madeDraft('t/b')])
  t.throws(() => place([madeDraft('t/a')]), /not placed/, 'others are about')
  learn(LOGS.map((log) => madeDraft(log)))
  t.equal(write([madeDraft('t/a')]), 1, 'and now nobody is')
})

t.test('a head that moved without its ids is seen', async (t) => {
  const { file, placer, append, write } = await openBoth(t)
  const { size = 0, link = '', issuedAt = 0, peaks = new Uint8Array() } = file.head('t/a') ?? {}
  const nextId = append([madeDraft('t/b')]).firstId + 1
  const know = (wrong: { readonly size?: number; readonly link?: string }) => {
    placer.learn(nextId, nextId, new Map())
    placer.learn(nextId, nextId, new Map([['t/a', { size, link, issuedAt, peaks, ...wrong }]]))
  }
  know({ link: 'ab'.repeat(32) })
  t.equal(write([madeDraft('t/a')]), 0)
  know({ size: size - 1 })
  t.equal(write([madeDraft('t/a')]), 0, 'never two records at one place')
  t.equal(file.head('t/a')?.size, size)
  t.equal(file.find(nextId, 't/a'), undefined, 'what was inserted before is taken back')
})

t.test('what cannot be placed ahead is left to the thread', async (t) => {
  const { place, placer, shared, file } = await openBoth(t)
  const refused = (drafts: readonly Draft[], name: string) => t.throws(() => place(drafts), /not placed/, name)
  refused([madeDraft('t/unknown')], 'a log whose end is not known')
  refused(draftsOf(MOST_RECORDS + 1), 'more records than there is room for')
  const long = { ...madeDraft('t/a'), front: `,"x":"${'x'.repeat(100_000)}"` }
  refused([long, long, long, long], 'longer ones than there is room for')
  const taken = Array.from({ length: TRANSACTIONS }, () => place([madeDraft('t/a')]))
  t.equal(new Set(taken.map(({ area }) => area)).size, TRANSACTIONS, 'each has an area of its own')
  refused([madeDraft('t/a')], 'all areas are taken')
  for (const { area, packed } of taken) {
    t.equal(file.write(area, packed), 1)
    Atomics.add(shared.done, area, 1)
  }
  t.ok(place([madeDraft('t/a')]), 'and are free again')
  placer.forget()
  refused([madeDraft('t/a')], 'nothing is known after a failure')
})

t.test('a text that would shift those behind it is refused, and takes nothing', async (t) => {
  const { place, write, file, shared } = await openBoth(t)
  const subject = { address: '::1', salt: new Uint8Array(32) }
  for (const wrong of [{ address: '::1\n' }, { address: '::1 ::2' }, { context: '"a"\n' }])
    t.throws(() => place([{ ...madeDraft('t/a'), subject: { ...subject, ...wrong } }]), /line break/)
  const sizes = Array.from({ length: TRANSACTIONS + 1 }, () => write([madeDraft('t/a')]))
  t.same(sizes, [1, 1, 1], 'memory and places are as they were')
  const { packed } = place([madeDraft('t/a')])
  const [memory = Buffer.alloc(0)] = areasOf(shared)
  const wrong = ['', packed.slice(0, -1), packed.slice(0, packed.length / 2), `${packed}\n`]
  for (const text of wrong) t.throws(() => unpackPlaced(text, memory), /its end/)
  t.equal(unpackPlaced(packed, memory).blocks[0]?.firstSeq, file.head('t/a')?.size)
})

t.test('two who write one file overtake each other, and every record has its place', async (t) => {
  const folder = await temporaryFolder(t)
  const one = await openLedgerIn(folder)
  const two = await openSqliteLedger(join(folder, 'ledger.db'))
  t.teardown(() => Promise.all([one.store.close(), two.close()]))
  await warm(one.store)
  await warm(two)
  const given: Place[] = []
  // Now one by himself for a while, now both.
  const append = async (store: LedgerStore, times: number) => {
    for (let time = 0; time < times; time++) given.push(...((await store.append(draftsOf(5, time))) ?? []))
  }
  for (let turn = 0; turn < 6; turn++) {
    await append(one.store, 4)
    await append(two, 4)
    await Promise.all([append(one.store, 10), append(two, 10)])
  }
  t.equal(given.length, 6 * 28 * 5)
  t.equal(new Set(given.map(({ attestationId }) => attestationId)).size, given.length)
  await one.ledger.checkpoint()
  t.equal(await faultOf(one.store, folder), undefined)
})

t.test('a store that fails with one more behind it goes on with the next', async (t) => {
  const store = await openSqliteLedger(join(await temporaryFolder(t), 'ledger.db'))
  t.teardown(() => store.close())
  await warm(store)
  const bad = { ...madeDraft('t/a'), subject: { address: '::1\n', salt: new Uint8Array(32) } }
  const [failed, behind] = await Promise.allSettled([store.append([bad]), store.append([madeDraft('t/a')])])
  t.equal(failed?.status, 'rejected')
  t.match(behind, { status: 'fulfilled', value: [{ seq: 3 }] }, 'placed anew, where the first is missing')
  t.match(await store.append([madeDraft('t/a')]), [{ seq: 4 }])
})

t.test('a ledger that is closed takes nothing', async (t) => {
  const store = await openSqliteLedger(join(await temporaryFolder(t), 'ledger.db'))
  await warm(store)
  await store.close()
  await t.rejects(store.append([madeDraft('t/a')]), /closed/)
})
