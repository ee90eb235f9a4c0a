import { useMemo } from 'preact/hooks'
import type { Got } from '../api.ts'
import { count, word } from '../words.ts'
import { Chart } from './chart.tsx'

type Reading = Pick<Got<'live'>, 'now' | 'from' | 'step' | 'curves' | 'totals'>

const UNITS = [
  [3_600_000, 'an hour'],
  [60_000, 'a minute'],
  [1_000, 'a second'],
] as const

function findUnit(step: number): (typeof UNITS)[number] {
  return UNITS.find(([ms]) => step >= ms) ?? UNITS[2]
}

/** Names the unit of a course: `an hour`. */
export function nameUnit({ step }: Pick<Reading, 'step'>): string {
  return findUnit(step)[1]
}

/** Shows the requests over time, by outcome. */
export function Course({ course: { now, from, step, curves, totals } }: { course: Reading }) {
  const [ms, unit] = findUnit(step)
  const drawn = useMemo(() => {
    // The last hour has not ended yet.
    const length = (at: number): number =>
      step < 3_600_000 ? step : Math.min(step, Math.max(now - (from + at * step), step / 12))
    const rows = Object.entries(curves).map(([name, values]) => ({
      name,
      values: values.map((value, at) => (value * ms) / length(at)),
    }))
    return { times: curves.allow.map((_, index) => (from + index * step) / 1_000), rows }
  }, [from, step, curves])
  const all = Object.values(totals).reduce((sum, part) => sum + part, 0)
  const parts = Object.entries(totals).map(([name, number]) => `${count(number)} ${word(name)}`)
  return <Chart label={`Requests ${unit} by result: ${count(all)} in total, ${parts.join(', ')}`} curves={drawn} />
}
