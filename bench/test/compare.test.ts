import t from 'tap'
import { changesOf } from '../report/compare.ts'
import { type Figure, isReached, type Machine, type Results, spreadOf } from '../report/result.ts'
import { gridOf, markdownOf, spreadText } from '../report/text.ts'

const MACHINE: Machine = {
  ...{ processor: 'p', cores: 2, gigabytes: 8, system: 's', node: '20', date: '2026-11-25', commit: 'c' },
  ...{ size: 'full', load: 0, seconds: 1 },
}

function resultsOf(...figures: readonly Partial<Figure>[]): ReadonlyMap<string, Results> {
  const all = figures.map((figure): Figure => ({ case: 'c', what: 'w', unit: 'µs', value: { median: 1 }, ...figure }))
  return new Map([['b', { bench: 'b', machine: MACHINE, tables: [{ title: 't', figures: all }], skipped: [] }]])
}

const verdict = (before: Partial<Figure>, after: Partial<Figure>) =>
  changesOf(resultsOf(before), resultsOf(after))[0]?.verdict

t.test('a change is beyond noise where the spreads of both runs lie apart', async (t) => {
  const slow = { value: { median: 10, low: 9, high: 11, runs: 11 } }
  const near = { value: { median: 11.5, low: 10.5, high: 12, runs: 11 } }
  const fast = { value: { median: 5, low: 4, high: 6, runs: 11 } }
  t.equal(verdict(slow, near), 'same')
  t.equal(verdict(slow, fast), 'better')
  t.equal(verdict(fast, slow), 'worse')
  t.equal(verdict({ ...fast, better: 'more' }, { ...slow, better: 'more' }), 'better')
})

t.test('the ratio to a peer is compared where there is one', async (t) => {
  const ratio = { median: 2, low: 1.9, high: 2.1, runs: 11 }
  const value = (median: number) => ({ value: { median, low: median, high: median, runs: 11 }, ratio, peer: 'p' })
  t.equal(verdict(value(1), value(100)), 'same')
})

t.test('one run says nothing of noise, and a count needs no more', async (t) => {
  t.equal(verdict({ value: { median: 1, runs: 1 } }, { value: { median: 9, runs: 1 } }), 'unknown')
  t.equal(verdict({ value: { median: 1 } }, { value: { median: 1 } }), 'same')
  t.equal(verdict({ value: { median: 1 } }, { value: { median: 2 } }), 'worse')
})

t.test('figures that came and went are named', async (t) => {
  const changes = changesOf(resultsOf({ case: 'old' }), resultsOf({ case: 'new' }))
  t.strictSame(
    changes.map(({ verdict }) => verdict),
    ['gone', 'new'],
  )
})

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
  t.match(markdownOf(gridOf({ title: '', figures: goals })), '| b | 10 | ≤ 10 µs |')
})
