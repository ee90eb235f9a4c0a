import t from 'tap'
import { type Appender, createAppender, type Draft, type Place } from '../src/index.ts'
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

const afterTurn = (run: () => void) => process.nextTick(run)

/** Callers who come back as soon as they are answered, each by way of some promises, until so many have been. */
async function goRound(appender: Appender, callers: number, rounds: number, making = () => {}): Promise<void> {
  const go = async () => {
    for (let round = 0; round < rounds; round++) {
      making()
      await appender.append(madeDraft('t/a'))
      for (let steps = 0; steps < 5; steps++) await undefined
    }
  }
  await Promise.all(Array.from({ length: callers }, go))
}

/** A store that is at each transaction for some milliseconds of its own time, whatever is in it, one after the other. */
function timedStore(milliseconds: number, appends?: number) {
  const counts: number[] = []
  let now = 0
  let underWay = 0
  let most = 0
  let free = 0
  return {
    counts,
    most: () => most,
    pass: (time: number) => {
      now += time
    },
    ...(appends === undefined ? {} : { overlap: { appends, elapsed: () => now, afterTurn } }),
    async append(drafts: readonly Draft[]): Promise<readonly Place[]> {
      counts.push(drafts.length)
      most = Math.max(most, ++underWay)
      const end = Math.max(now, free) + milliseconds
      free = end
      // Those that came before are answered before, each in a turn of its own.
      for (let turns = underWay; turns > 0; turns--) await turn()
      now = Math.max(now, end)
      underWay--
      return drafts.map((_, index) => place(index))
    },
  }
}

t.test('callers who come back by way of promises get into one transaction', async (t) => {
  const store = timedStore(20, 2)
  await goRound(createAppender(store), 8, 5, () => store.pass(1))
  t.same(store.counts, [8, 8, 8, 8, 8], 'where to write takes longer than to make')
  t.equal(store.most(), 1)
})

t.test('where to make records takes longer than to write them, half of them go ahead', async (t) => {
  const store = timedStore(2, 2)
  await goRound(createAppender(store), 8, 12, () => store.pass(2))
  t.equal(store.most(), 2)
  t.same(store.counts, [8, ...Array.from({ length: 22 }, () => 4)], 'as soon as it is known')
  const one = timedStore(2)
  await goRound(createAppender(one), 8, 6, () => one.pass(2))
  t.same(one.counts, [8, 8, 8, 8, 8, 8], 'but not with a store that does one at a time')
})

t.test('one transaction that took long changes nothing, and many do', async (t) => {
  const store = timedStore(0, 2)
  const writingOf = (transaction: number) => (transaction === 20 || transaction > 40 ? 100 : 2)
  const uneven = {
    ...store,
    async append(drafts: readonly Draft[]) {
      const transaction = store.counts.length
      const places = await store.append(drafts)
      store.pass(writingOf(transaction))
      return places
    },
  }
  await goRound(createAppender(uneven), 8, 40, () => store.pass(2))
  t.same(new Set(store.counts.slice(10, 40)), new Set([4]))
  t.same(new Set(store.counts.slice(50, -2)), new Set([8]), `${store.counts}`)
})

t.test('what is under way when another fails is answered for itself', async (t) => {
  let now = 0
  const store = { ...heldStore(), overlap: { appends: 2, elapsed: () => now, afterTurn } }
  const appender = createAppender(store)
  const append = () => {
    now += 2
    return appender.append(madeDraft('t/a'))
  }
  const answer = async (index: number) => {
    const { drafts, answer } = store.batches[index] ?? {}
    now += 2
    answer?.(Array.from({ length: drafts?.length ?? 0 }, (_, index) => place(index)))
    await turn()
  }
  const first = Promise.all([append(), append(), append(), append()])
  await turn()
  await answer(0)
  await first
  const ahead = [append(), append()]
  const behind = [append(), append()]
  const late = append()
  t.same(
    store.batches.map(({ drafts }) => drafts.length),
    [4, 2, 2],
    'two are under way, and no third',
  )
  const settled = Promise.allSettled([...ahead, late])
  store.batches[1]?.fail(new Error('disk full'))
  t.same(
    (await settled).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
    'with those that wait',
  )
  await answer(2)
  t.same(await Promise.all(behind), [place(0), place(1)])
})

t.test('no transaction is longer than the longest', async (t) => {
  const store = timedStore(1, 2)
  const appender = createAppender(store, { maxBatch: 20 })
  await Promise.all(Array.from({ length: 45 }, () => appender.append(madeDraft('t/a'))))
  t.same(store.counts, [20, 20, 5])
})
