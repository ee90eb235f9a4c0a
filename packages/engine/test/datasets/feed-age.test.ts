import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { isDue } from '../../src/datasets/feeds/age.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const TRIED = Date.UTC(2026, 10, 21)

/** Whether a feed becomes due just that long after it was asked. */
function isDueAfter(wait: number, refreshHours: number, failures: number, jitter = 0.5): boolean {
  const row: SourceRow = { ...(SOURCES[0] as SourceRow), refreshHours }
  const at = (now: number) => isDue(row, { url: '', failures, tried: TRIED }, jitter, now)
  return at(TRIED + wait + 1) && !at(TRIED + wait - 1)
}

t.test('a feed is asked at its own interval, a tenth sooner or later by the jitter', async (t) => {
  t.ok(isDue(SOURCES[0] as SourceRow, { url: '', failures: 0 }, 1, TRIED), 'at once where it never was')
  t.ok(isDueAfter(24 * HOUR, 24, 0))
  t.ok(isDueAfter(HOUR, 1, 0))
  t.ok(isDueAfter(21.6 * HOUR, 24, 0, 0))
  t.ok(isDueAfter(26.4 * HOUR, 24, 0, 1))
})

t.test('one that failed is asked again soon, then ever later, and never later than otherwise', async (t) => {
  for (const [index, minutes] of [5, 10, 20, 40].entries())
    t.ok(isDueAfter(minutes * MINUTE, 24, index + 1), `${minutes}`)
  for (const failures of [30, 5_000]) t.ok(isDueAfter(24 * HOUR, 24, failures))
  t.ok(isDueAfter(HOUR, 1, 5))
})

t.test('a clock that was ahead for a while does not silence a feed until then', async (t) => {
  const row: SourceRow = { ...(SOURCES[0] as SourceRow), refreshHours: 24 }
  const now = TRIED - 365 * 24 * HOUR
  t.ok(isDue(row, { url: '', failures: 0, tried: TRIED }, 0.5, now))
  t.ok(isDue(row, { url: '', failures: 3, tried: TRIED }, 0.5, now))
})
