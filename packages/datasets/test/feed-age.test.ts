import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { dueAt } from '../src/feeds/age.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const TRIED = Date.UTC(2026, 10, 21)
const row = (refreshHours: number): SourceRow => ({ ...(SOURCES[0] as SourceRow), refreshHours })
const wait = (refreshHours: number, failures: number, jitter = 0.5) =>
  Math.round(dueAt(row(refreshHours), { url: '', failures, tried: TRIED }, jitter) - TRIED)

t.test('a feed is asked at its own interval, a tenth sooner or later by the jitter', async (t) => {
  t.equal(dueAt(row(24), { url: '', failures: 0 }, 1), 0, 'at once where it never was')
  t.same([wait(24, 0), wait(1, 0)], [24 * HOUR, HOUR])
  t.same([wait(24, 0, 0), wait(24, 0, 1)], [21.6 * HOUR, 26.4 * HOUR])
})

t.test('one that failed is asked again soon, then ever later, and never later than otherwise', async (t) => {
  t.same(
    [1, 2, 3, 4].map((failures) => wait(24, failures)),
    [5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 40 * MINUTE],
  )
  t.same([wait(24, 30), wait(24, 5_000), wait(1, 5)], [24 * HOUR, 24 * HOUR, HOUR])
})
