import fc from 'fast-check'
import t from 'tap'
import { billingWindow, createBillingWindows, dateText, isDate } from '../../src/accounts/index.ts'

const DAY = 86_400_000

/** Each row has [signup date, now, first day of the window, first day of the next]. */
const EDGES: readonly (readonly [string, string, string, string])[] = [
  // These are the signup day itself and the edges of a plain window.
  ['2026-01-15', '2026-01-15T00:00:00.000Z', '2026-01-15', '2026-02-15'],
  ['2026-01-15', '2026-02-14T23:59:59.999Z', '2026-01-15', '2026-02-15'],
  ['2026-01-15', '2026-01-14T23:59:59.999Z', '2025-12-15', '2026-01-15'],
  // The first of the month is the calendar month.
  ['2026-01-01', '2026-02-28T23:59:59.999Z', '2026-02-01', '2026-03-01'],
  // The 31st must fit months of 28, 29, 30 and 31 days, and return to the 31st.
  ['2026-01-31', '2026-02-27T23:59:59.999Z', '2026-01-31', '2026-02-28'],
  ['2026-01-31', '2026-02-28T00:00:00.000Z', '2026-02-28', '2026-03-31'],
  ['2026-01-31', '2026-03-31T00:00:00.000Z', '2026-03-31', '2026-04-30'],
  ['2026-01-31', '2027-01-30T23:59:59.999Z', '2026-12-31', '2027-01-31'],
  ['2027-12-31', '2028-02-29T00:00:00.000Z', '2028-02-29', '2028-03-31'],
  // The 29th must fit years with and without a leap day; 2100 has none, 2000 had one.
  ['2026-01-29', '2026-02-28T00:00:00.000Z', '2026-02-28', '2026-03-29'],
  ['2028-02-29', '2029-02-27T23:59:59.999Z', '2029-01-29', '2029-02-28'],
  ['2028-02-29', '2032-02-29T00:00:00.000Z', '2032-02-29', '2032-03-29'],
  ['2026-01-31', '2100-02-28T00:00:00.000Z', '2100-02-28', '2100-03-31'],
  ['2000-02-29', '2000-03-28T23:59:59.999Z', '2000-02-29', '2000-03-29'],
  // Clock changes in Europe move nothing: everything is UTC.
  ['2026-01-29', '2026-03-29T01:30:00.000Z', '2026-03-29', '2026-04-29'],
]

t.test('the window at its edges, and only days that exist are dates', async (t) => {
  for (const [signup, now, start, reset] of EDGES) {
    const window = { id: start, startsAt: Date.parse(start), endsAt: Date.parse(reset), resetDate: reset }
    t.same(billingWindow(signup, Date.parse(now)), window, `${signup} at ${now}`)
  }
  for (const good of ['2026-01-31', '2028-02-29', '2000-02-29']) t.equal(isDate(good), true, good)
  for (const bad of ['', '2026-02-29', '2026-13-01', '2026-00-10', '2026-1-1', '2026-01-31T00:00:00Z', ' 2026-01-31']) {
    t.equal(isDate(bad), false, bad)
    t.throws(() => billingWindow(bad, 0), RangeError, bad)
  }
})

t.test('windows follow one another without a gap and without going back', async (t) => {
  const day = fc.integer({ min: Date.parse('2000-01-01') / DAY, max: Date.parse('2099-12-31') / DAY })
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(day, day, (signup, today) => {
        const text = dateText(signup * DAY)
        const window = billingWindow(text, today * DAY)
        const next = billingWindow(text, window.endsAt)
        const last = billingWindow(text, window.startsAt - 1)
        const anchored = Number(window.id.slice(8)) <= Number(text.slice(8))
        const inside = window.startsAt <= today * DAY && today * DAY < window.endsAt
        return (
          anchored &&
          inside &&
          next.startsAt === window.endsAt &&
          last.endsAt === window.startsAt &&
          next.id > window.id
        )
      }),
      { numRuns: 500 },
    ),
  )
})

t.test('windows that are remembered are those that are reckoned, also where the clock goes back', async (t) => {
  const findWindow = createBillingWindows()
  for (const order of [EDGES, EDGES.toReversed(), EDGES]) {
    for (const [signup, now] of order) {
      t.same(findWindow(signup, Date.parse(now)), billingWindow(signup, Date.parse(now)), `${signup} at ${now}`)
    }
  }
  const one = findWindow('2026-01-31', Date.parse('2026-02-28'))
  t.equal(findWindow('2025-12-31', one.endsAt - 1), one, 'accounts of one day share it')
  t.not(findWindow('2025-12-31', one.endsAt), one)
  t.throws(() => findWindow('2026-02-30', 0), RangeError)
})
