import t from 'tap'
import { type Appending, createAppender, type Draft, type Place } from '../src/index.ts'
import { madeDraft } from '../src/testing/index.ts'

/** A store that answers when it is told to. */
function heldStore() {
  const batches: {
    readonly drafts: readonly Draft[]
    answer(places: readonly Place[]): void
    fail(error: Error): void
  }[] = []
  return {
    batches,
    append: (drafts: readonly Draft[]) =>
      new Promise<readonly Place[]>((answer, fail) => batches.push({ drafts, answer, fail })),
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const place = (attestationId: number): Place => ({ attestationId, seq: attestationId })

t.test('all that wait go into one transaction, and each gets its own place', async (t) => {
  const store = heldStore()
  const appender = createAppender(store, { maxBatch: 3 })
  const waiting = Array.from({ length: 8 }, () => appender.append(madeDraft('t/a')))
  await turn()
  t.same(
    store.batches.map(({ drafts }) => drafts.length),
    [3],
    'one event, one transaction',
  )
  store.batches[0]?.answer([place(1), place(2), place(3)])
  t.same(await Promise.all(waiting.slice(0, 3)), [place(1), place(2), place(3)])
  await turn()
  store.batches[1]?.answer([place(4), place(5), place(6)])
  await turn()
  store.batches[2]?.answer([place(7), place(8)])
  t.same(
    (await Promise.all(waiting)).map(({ seq }) => seq),
    [1, 2, 3, 4, 5, 6, 7, 8],
  )
})

t.test('nothing is given out before the store has answered', async (t) => {
  const store = heldStore()
  let given = false
  const appended = createAppender(store)
    .append(madeDraft('t/a'))
    .then(() => (given = true))
  for (let turns = 0; turns < 10; turns++) await turn()
  t.equal(given, false)
  store.batches[0]?.answer([place(1)])
  await appended
  t.equal(given, true)
})

t.test('a full queue refuses at once, and takes again when there is room', async (t) => {
  const store = heldStore()
  const appender = createAppender(store, { maxWaiting: 2, maxBatch: 2 })
  const first = appender.append(madeDraft('t/a'))
  await turn()
  const queued = [appender.append(madeDraft('t/a')), appender.append(madeDraft('t/a'))]
  await t.rejects(appender.append(madeDraft('t/a')), { name: 'LedgerUnavailable', message: /full/ })
  store.batches[0]?.answer([place(1)])
  t.same(await first, place(1))
  await turn()
  store.batches[1]?.answer([place(2), place(3)])
  t.same(await Promise.all(queued), [place(2), place(3)])
})

t.test('a store that fails takes with it those that wait, and no more', async (t) => {
  const store = heldStore()
  const appender = createAppender(store, { maxBatch: 1 })
  const waiting = [1, 2, 3, 4].map(() => appender.append(madeDraft('t/a')))
  const settled = Promise.allSettled(waiting)
  await turn()
  await turn()
  store.batches[0]?.fail(new Error('disk full'))
  t.same(new Set((await settled).map(({ status }) => status)), new Set(['rejected']), 'and all behind it')
  t.equal(store.batches.length, 1)
  await t.rejects(waiting[0] as Promise<Place>, { name: 'LedgerUnavailable', cause: { message: 'disk full' } })
  const next = appender.append(madeDraft('t/a'))
  await turn()
  store.batches.at(-1)?.answer([place(10)])
  t.same(await next, place(10), 'the next is tried again')
})

/** A store that can begin before the last record is made; it says how many records came in each part. */
function beginningStore() {
  const held = heldStore()
  const parts: number[][] = []
  const begin = (first: readonly Draft[]): Appending => {
    const own = [first.length]
    const drafts = [...first]
    parts.push(own)
    const add = (more: readonly Draft[]) => {
      own.push(more.length)
      drafts.push(...more)
    }
    return {
      add,
      commit(last) {
        add(last)
        return held.append(drafts)
      },
    }
  }
  return { ...held, parts, begin }
}

t.test('a store that can begin gets the records of one turn in parts, in their order', async (t) => {
  const store = beginningStore()
  const appender = createAppender(store)
  const drafts = Array.from({ length: 40 }, (_, index) => madeDraft('t/a', `192.0.2.${index}`))
  const waiting = drafts.map((draft) => appender.append(draft))
  t.same(store.parts, [[16, 16]], 'while they are made')
  await turn()
  t.same(store.parts, [[16, 16, 8]])
  t.equal(store.batches.length, 1, 'one transaction')
  t.same(store.batches[0]?.drafts, drafts)
  const later = drafts.map((draft) => appender.append(draft))
  await turn()
  t.equal(store.parts.length, 1, 'nothing begins while another is under way')
  store.batches[0]?.answer(drafts.map((_, index) => place(index)))
  t.same(
    (await Promise.all(waiting)).map(({ seq }) => seq),
    drafts.map((_, index) => index),
  )
  await turn()
  t.equal(store.batches[1]?.drafts.length, 40)
  store.batches[1]?.fail(new Error('disk full'))
  t.same(new Set((await Promise.allSettled(later)).map(({ status }) => status)), new Set(['rejected']))
  const few = Array.from({ length: 20 }, () => appender.append(madeDraft('t/b')))
  await turn()
  t.same(store.parts.at(-1), [16, 4], 'nothing is left of what failed')
  store.batches[2]?.answer(few.map((_, index) => place(index)))
  await Promise.all(few)
})

t.test('no part goes beyond the longest transaction', async (t) => {
  const store = beginningStore()
  const appender = createAppender(store, { maxBatch: 20 })
  const waiting = Array.from({ length: 45 }, () => appender.append(madeDraft('t/a')))
  for (const count of [20, 20, 5]) {
    await turn()
    t.equal(store.batches.at(-1)?.drafts.length, count)
    store.batches.at(-1)?.answer(Array.from({ length: count }, (_, index) => place(index)))
  }
  t.equal((await Promise.all(waiting)).length, 45)
})
