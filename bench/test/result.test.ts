import t from 'tap'
import { type Figure, isReached, type Machine, spreadOf } from '../report/result.ts'
import { gridOf, markdownOf, resultsText, spreadText } from '../report/text.ts'

t.test('spreads are quartiles, or of few runs the lowest and the highest', async (t) => {
  t.strictSame(spreadOf([5, 1, 4, 2, 3]), { median: 3, low: 2, high: 4, runs: 5 })
  t.strictSame(spreadOf([3, 1]), { median: 2, low: 1, high: 3, runs: 2 })
  t.equal(spreadText({ median: 1234.5, low: 1200, high: 1300, runs: 5 }), '1,230 (1,200–1,300)')
  t.equal(spreadText({ median: 8299 }), '8,299')
})

t.test('goals are held against the value or the ratio, both ways', async (t) => {
  const figure = { case: 'c', what: 'w', unit: 'µs', value: { median: 5 }, ratio: { median: 2 }, peer: 'p' }
  t.equal(isReached({ ...figure, goal: { atMost: 5 } }), true)
  t.equal(isReached({ ...figure, goal: { atLeast: 6 } }), false)
  t.equal(isReached({ ...figure, goal: { atMost: 1.5, of: 'ratio' } }), false)
  t.equal(isReached(figure), undefined)
})

t.test('a curve has a row for each amount of work, other tables one for each case', async (t) => {
  const figure = (at: number, name: string): Figure => ({
    case: name,
    at,
    what: 'w',
    unit: 'µs',
    value: { median: at },
  })
  const figures = [figure(10, 'a'), figure(10, 'b'), figure(1_000, 'a')]
  t.equal(
    markdownOf(gridOf({ title: '', work: 'rules', figures })),
    '| rules | a, w, µs | b, w, µs |\n|---|---|---|\n| 10 | 10 | 10 |\n| 1,000 | 1,000 |  |',
  )
  const goals = figures.map((one) => ({ ...one, goal: { atMost: 10 } }))
  t.match(markdownOf(gridOf({ title: '', figures: goals })), '| b | 10 (≤10) |')
})

t.test('a table that another run measured names its own machine, and a busy one is marked', async (t) => {
  const machine: Machine = {
    processor: 'p',
    cores: 2,
    gigabytes: 8,
    system: 's',
    node: '20',
    date: '2026-11-25',
    commit: 'c1',
    size: 'full',
    load: 9,
    seconds: 1,
    busy: true,
  }
  const figures = [{ case: 'c', what: 'w', unit: 'µs', value: { median: 1 } }]
  const tables = [
    { title: 'carried', figures, machine: { ...machine, commit: 'c2' } },
    { title: 'own', figures },
  ]
  const text = resultsText({ bench: 'b', machine, tables, skipped: [] })
  t.match(text, /^\| carried \| w, µs \|\n.*\n.*\n\n\| own \| w, µs \|\n/)
  t.match(text, /\*p.*`c1`.*load 9\.0, \*\*the machine was busy\*\*\.\* \*carried: Node 20.*`c2`; load 9\.0\.\*$/)
})
