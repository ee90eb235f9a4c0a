import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { shortCount, word } from '../words.ts'

/** Curves over time, one above the other. */
export interface Curves {
  /** Seconds since the epoch. */
  readonly times: readonly number[]
  /** By name, from the bottom up. */
  readonly rows: readonly { readonly name: string; readonly values: readonly number[] }[]
}

const HEIGHT = 210
const MINUTES = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const SECONDS = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** A stacked chart; `label` says in a sentence what it shows, for those who do not see it. */
export function Chart({ label, curves }: { label: string; curves: Curves }) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | undefined>(undefined)
  const names = curves.rows.map(({ name }) => name).join()
  const { matches: isDark } = matchMedia('(prefers-color-scheme: dark)')

  useEffect(() => {
    const { current } = place
    if (current === null) return
    // A canvas takes no variables: the browser says which colour one has in this theme.
    const colour = (name: string): string => {
      current.style.color = `var(--${name}, var(--api))`
      return getComputedStyle(current).color
    }
    const made = new UPlot(makeOptions(current.clientWidth, curves, colour), stacked(curves), current)
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height: HEIGHT }))
    observer.observe(current)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [names, isDark])

  useEffect(() => plot.current?.setData(stacked(curves)), [curves])

  return (
    <figure class="chart">
      <div ref={place} role="img" aria-label={label} />
      <figcaption class="legend">
        {curves.rows.map(({ name }) => (
          <span key={name}>
            <i class={`dot ${name}`} /> {word(name)}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

function makeOptions(width: number, { rows }: Curves, colour: (name: string) => string): UPlot.Options {
  const axis = { stroke: colour('quiet'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 28, 0, 0],
    scales: { y: { range: (_, __, highest) => [0, Math.max(1, highest * 1.08)] } },
    axes: [
      {
        ...axis,
        size: 30,
        // Wider than the longest label: they would run together.
        space: 76,
        values: (_, times, __, ___, step) => times.map((time) => formatMoment(new Date(time * 1_000), step)),
      },
      { ...axis, size: 44, values: (_, values) => values.map((value) => (value % 1 === 0 ? shortCount(value) : '')) },
    ],
    series: [
      {},
      // The highest is drawn first, and the others over it.
      ...rows
        .map(({ name }) => ({
          label: name,
          stroke: colour(name),
          fill: colour(name),
          width: 1,
          points: { show: false },
        }))
        .reverse(),
    ],
  }
}

/** A moment of the axis, whose labels are so many seconds apart: a day where one begins. */
function formatMoment(moment: Date, step: number): string {
  if (step < 60) return SECONDS.format(moment)
  return (moment.getHours() + moment.getMinutes() > 0 ? MINUTES : DAYS).format(moment)
}

function stacked({ times, rows }: Curves): UPlot.AlignedData {
  const sums: number[][] = []
  let below = times.map(() => 0)
  for (const { values } of rows) {
    below = below.map((sum, index) => sum + (values[index] ?? 0))
    sums.unshift(below)
  }
  return [[...times], ...sums]
}
