import type { ObservedRequest } from '@sallyport/core'
import t from 'tap'
import { type HistoryReading, mergeReadings } from '../../src/console/history/history.ts'
import { createSeries } from '../../src/console/history/series.ts'
import { createTop, mergeTops } from '../../src/console/history/top.ts'
import { createHistory } from '../../src/console/index.ts'

const AT = Date.parse('2026-11-24T12:00:30Z')

function observed(id: string, some: Partial<ObservedRequest> = {}): ObservedRequest {
  return {
    id,
    answeredBy: 'api',
    peer: '127.0.0.1',
    client: '203.0.113.9',
    method: 'GET',
    host: 'site.example',
    path: '/v1/myip',
    status: 200,
    at: AT,
    milliseconds: 1,
    ...some,
  }
}

t.test('a series forgets what is older than itself, and never mixes two rounds', async (t) => {
  const series = createSeries({ slots: 4, slotMs: 1_000, kinds: 2 })
  series.add(1_500, 0)
  series.add(2_500, 1)
  series.add(2_600, 1)
  t.same(series.read(2_900, 3), [
    [0, 0],
    [1, 0],
    [0, 2],
  ])
  series.add(5_500, 0)
  t.same(series.read(5_900, 4), [
    [0, 2],
    [0, 0],
    [0, 0],
    [1, 0],
  ])
  series.add(1_000, 0)
  t.same(series.read(5_900, 4)[3], [1, 0], 'a request that took longer than the series is left out')
  t.same(series.read(60_000, 4), new Array(4).fill([0, 0]))
})

t.test('the most frequent values are found among a flood of others', async (t) => {
  const top = createTop(50)
  for (let index = 0; index < 20_000; index++) {
    top.add(index % 4 === 0 ? 'often' : index % 10 === 1 ? 'sometimes' : `once-${index}`)
  }
  const list = top.list().toSorted((x, y) => y.count - x.count)
  t.equal(list.length, 50)
  t.equal(list[0]?.name, 'often')
  t.ok((list[0]?.count ?? 0) >= 5_000 && (list[0]?.count ?? 0) <= 5_000 + 20_000 / 50)
  t.equal(list[1]?.name, 'sometimes')
  top.add('x'.repeat(10_000))
  t.ok(top.list().every(({ name }) => name.length < 200))
  t.same(
    mergeTops(
      [
        [{ name: 'a', count: 1 }],
        [
          { name: 'b', count: 3 },
          { name: 'a', count: 1 },
        ],
      ],
      1,
    ),
    [{ name: 'b', count: 3 }],
  )
})

t.test('a history counts by what became of requests, and remembers the last ones', async (t) => {
  const history = createHistory()
  for (let index = 0; index < 4_100; index++) history.observe(observed(`r${index}`))
  history.observe(observed('bad-head', { answeredBy: 'refusal', refusedFor: 'head' }))
  history.observe(observed('asked-about', { answeredBy: 'check' }))
  const { totals, curves, step, from } = history.read('5m', AT + 1_000)
  t.match(totals, { api: 4_100, refused: 1, allow: 0 })
  t.equal(curves.api.length, 300)
  t.equal(curves.api[Math.floor((AT - from) / step)], 4_100)
  t.equal(history.read('24h', AT).totals.api, 4_100)
  t.equal(history.read('24h', AT).curves.api.length, 288)
  t.equal(history.recent.list().length, 4_000)
  t.equal(history.recent.find('r0'), undefined)
  t.equal(history.recent.find('r4099')?.observed.id, 'r4099')
  t.equal(history.read('1h', AT + 86_400_000).totals.api, 0)
})

t.test('rows since a place are asked for, as far as they are kept', async (t) => {
  const { observe, recent } = createHistory()
  const idsSince = (count: number) => recent.since(count).map(({ observed }) => observed.id)
  t.same(idsSince(0), [])
  for (let index = 0; index < 3; index++) observe(observed(`a${index}`))
  t.same(idsSince(1), ['a1', 'a2'])
  t.same(idsSince(recent.count), [])
  t.same(idsSince(7), [], 'of a process that is another now')
  for (let index = 0; index < 4_000; index++) observe(observed(`b${index}`))
  t.equal(idsSince(0).length, 4_000)
  t.same(idsSince(4_001), ['b3998', 'b3999'])
  t.equal(idsSince(3_000)[0], 'b2997')
})

t.test('counts of several processes are read as one', async (t) => {
  const processes = [createHistory(), createHistory()] as const
  for (const [index, { observe }] of processes.entries()) {
    for (let times = 0; times <= index; times++) observe(observed(`r${times}`))
    observe(observed('bad-head', { answeredBy: 'refusal', refusedFor: 'head', at: AT - 60_000 }))
  }
  const [one, two] = processes.map(({ read }) => read('5m', AT + 1_000))
  const { totals, curves } = mergeReadings([one as HistoryReading, two as HistoryReading])
  t.match(totals, { api: 3, refused: 2, allow: 0 })
  t.equal(Math.max(...curves.api), 3)
})

t.test('a history has what came of the questions of each rule, by the hour', async (t) => {
  const history = createHistory()
  const decision = { reasons: [{ id: 'policy:ask', text: '' }], action: 'challenge' }
  const inspection = { network: { verdict: { classification: 'tor' } }, agent: { class: 'human' } }
  for (const outcome of ['asked', 'asked', 'waiting', 'program', 'solved', 'waited', 'wrong', 'spent'] as const) {
    const decided = { ...decision, inspection } as unknown as NonNullable<ObservedRequest['decision']>
    history.observe(observed(outcome, { decision: decided, challenge: { outcome, rule: 'ask', level: 2 } }))
  }
  t.same(history.top('challenges', AT, 1, 9), [
    { name: 'ask asked', count: 2 },
    { name: 'ask failed', count: 2 },
    { name: 'ask solved', count: 2 },
  ])
})
