import t from 'tap'
import { createCommitter, type LedgerStore } from '../src/index.ts'
import type { RecordPlace } from '../src/ports.ts'
import type { Draft } from '../src/record.ts'
import { createSequencer, type Sequencer } from '../src/sequencer.ts'
import { append, createMemoryLedger, madeDraft } from '../src/testing/index.ts'

/** A committer that answers on demand. */
function heldCommitter() {
  const batches: {
    readonly drafts: readonly Draft[]
    answer(places: readonly RecordPlace[]): void
    fail(error: Error): void
  }[] = []
  return {
    batches,
    commit: (drafts: readonly Draft[]) =>
      new Promise<readonly RecordPlace[]>((answer, fail) => batches.push({ drafts, answer, fail })),
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const place = (attestationId: number): RecordPlace => ({ attestationId, seq: attestationId })

t.test('all that wait go into one commit, and each gets its own place once the store has answered', async (t) => {
  const committer = heldCommitter()
  const sequencer = createSequencer(committer, { maxBatch: 3 })
  const waiting = Array.from({ length: 8 }, () => sequencer.append(madeDraft('t/a')))
  let given = false
  void waiting[0]?.then(() => {
    given = true
  })
  for (let turns = 0; turns < 10; turns++) await turn()
  t.equal(given, false, 'nothing is given out before')
  t.same([committer.batches.length, committer.batches[0]?.drafts.length], [1, 3], 'one event, one commit')
  const places = [1, 2, 3, 4, 5, 6, 7, 8].map(place)
  for (let batch = 0; batch < 3; batch++) {
    committer.batches[batch]?.answer(places.slice(batch * 3, batch * 3 + 3))
    await turn()
  }
  t.same(await Promise.all(waiting), places)
})

t.test('a full queue refuses at once, and takes again when there is room', async (t) => {
  const committer = heldCommitter()
  const sequencer = createSequencer(committer, { maxWaiting: 2, maxBatch: 2 })
  const first = sequencer.append(madeDraft('t/a'))
  await turn()
  const queued = [sequencer.append(madeDraft('t/a')), sequencer.append(madeDraft('t/a'))]
  await t.rejects(sequencer.append(madeDraft('t/a')), { name: 'LedgerUnavailable', message: /full/ })
  committer.batches[0]?.answer([place(1)])
  t.same(await first, place(1))
  await turn()
  committer.batches[1]?.answer([place(2), place(3)])
  t.same(await Promise.all(queued), [place(2), place(3)])
})

t.test('a store that fails fails those that wait as well, and no more', async (t) => {
  const committer = heldCommitter()
  const sequencer = createSequencer(committer, { maxBatch: 1 })
  const waiting = [1, 2, 3, 4].map(() => sequencer.append(madeDraft('t/a')))
  const settled = Promise.allSettled(waiting)
  await turn()
  await turn()
  committer.batches[0]?.fail(new Error('disk full'))
  t.same(new Set((await settled).map(({ status }) => status)), new Set(['rejected']), 'and all that wait')
  t.equal(committer.batches.length, 1)
  await t.rejects(waiting[0] as Promise<RecordPlace>, { name: 'LedgerUnavailable', cause: { message: 'disk full' } })
  const next = sequencer.append(madeDraft('t/a'))
  await turn()
  committer.batches.at(-1)?.answer([place(10)])
  t.same(await next, place(10), 'the next is tried again')
})

/** Callers who append again as soon as they are answered, each by way of some promises. */
async function goRound(sequencer: Sequencer, callers: number, rounds: number): Promise<void> {
  const go = async () => {
    for (let round = 0; round < rounds; round++) {
      await sequencer.append(madeDraft('t/a'))
      for (let steps = 0; steps < 5; steps++) await undefined
    }
  }
  await Promise.all(Array.from({ length: callers }, go))
}

/** Counts the records of each commit, which takes one turn of the event loop. */
function countingCommitter() {
  const counts: number[] = []
  return {
    counts,
    async commit(drafts: readonly Draft[]): Promise<readonly RecordPlace[]> {
      counts.push(drafts.length)
      await turn()
      return drafts.map((_, index) => place(index))
    },
  }
}

t.test('callers who come back by way of promises share a commit, and none is longer than the longest', async (t) => {
  const committer = countingCommitter()
  await goRound(createSequencer(committer), 8, 5)
  t.same(committer.counts.splice(0), [8, 8, 8, 8, 8])
  const sequencer = createSequencer(committer, { maxBatch: 20 })
  await Promise.all(Array.from({ length: 45 }, () => sequencer.append(madeDraft('t/a'))))
  t.same(committer.counts, [20, 20, 5])
})

/** A memory store that notes what is asked of it. */
function watchedStore() {
  const store = createMemoryLedger('sallyport/0123456789abcdef')
  const asked: string[] = []
  return {
    ...store,
    asked,
    async heads(logs: readonly string[], reserve?: boolean) {
      asked.push(`heads ${logs.join()}${reserve ? ' reserved' : ''}`)
      return store.heads(logs, reserve)
    },
    async commit(...given: Parameters<LedgerStore['commit']>) {
      const kept = await store.commit(...given)
      asked.push(kept ? 'kept' : 'lost')
      return kept
    },
  }
}

t.test('heads are read once while nobody else commits, and by reservation after a lost race', async (t) => {
  const store = watchedStore()
  const committer = createCommitter(store)
  const commit = async (log: string) => {
    store.asked.length = 0
    const [{ seq } = { seq: -1 }] = (await committer.commit([madeDraft(log)])) ?? []
    return [seq, ...store.asked]
  }
  t.same(await commit('t/a'), [0, 'heads t/a', 'kept'])
  t.same(await commit('t/a'), [1, 'kept'], 'on what is known')
  t.same(await commit('t/b'), [0, 'heads t/b', 'kept'], 'a log that is not known')
  t.same(await commit('t/a'), [2, 'kept'])
  await append(store, [madeDraft('t/a')])
  t.same(await commit('t/a'), [4, 'lost', 'heads t/a reserved', 'kept'], 'behind another process')
  await append(store, [madeDraft('t/a')])
  t.same(await commit('t/a'), [6, 'heads t/a reserved', 'kept'], 'which goes on')
  t.same(await commit('t/a'), [7, 'heads t/a reserved', 'kept'])
  t.same(await commit('t/a'), [8, 'kept'], 'and is gone')
})

t.test('heads are read again after a commit that failed', async (t) => {
  const store = watchedStore()
  let failing = false
  const committer = createCommitter({
    ...store,
    commit: (...given) => (failing ? Promise.reject(new Error('down')) : store.commit(...given)),
  })
  await committer.commit([madeDraft('t/a')])
  failing = true
  await t.rejects(committer.commit([madeDraft('t/a')]), /down/)
  failing = false
  store.asked.length = 0
  t.same(await committer.commit([madeDraft('t/a')]), [{ attestationId: 2, seq: 1 }])
  t.same(store.asked, ['heads t/a', 'kept'])
})

t.test('a commit that expects a size looks at the store, and races that are all lost are an outage', async (t) => {
  const store = watchedStore()
  const committer = createCommitter(store)
  await committer.commit([madeDraft('t/a')])
  t.same(await committer.commit([madeDraft('t/a')], { log: 't/a', size: 0 }), undefined)
  t.same(await committer.commit([madeDraft('t/a')], { log: 't/a', size: 1 }), [{ attestationId: 2, seq: 1 }])
  const lost = createCommitter({ ...store, commit: async () => false })
  await t.rejects(lost.commit([madeDraft('t/a')]), { name: 'LedgerUnavailable', message: /20 times/ })
})
