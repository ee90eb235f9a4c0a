import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { shortCount, word } from '../words.ts'

/** Curves over time, which the chart puts one above the other. */
interface Curves {
  /** Counts seconds since the epoch. */
  readonly times: readonly number[]
  /** Lists the curves by name, from the bottom up. */
  readonly rows: readonly { readonly name: string; readonly values: readonly number[] }[]
}

const HEIGHT = 210
/** A chart on A4 with the browser's own margins has this width, in CSS pixels. */
const PAPER_WIDTH = 680
const MINUTES = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const SECONDS = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** Draws a stacked chart; `label` describes it in a sentence for visitors who cannot see it. */
export function Chart({ label, curves }: { label: string; curves: Curves }) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | undefined>(undefined)
  const names = curves.rows.map(({ name }) => name).join()
  const { matches: isDark } = matchMedia('(prefers-color-scheme: dark)')

  useEffect(() => {
    const { current } = place
    if (current === null) return
    // A canvas takes no CSS variables: the browser resolves the colour for the current theme.
    const colour = (name: string): string => {
      current.style.color = `var(--${name}, var(--api))`
      return getComputedStyle(current).color
    }
    const made = new UPlot(makeOptions(current.clientWidth, curves, colour), stackCurves(curves), current)
    plot.current = made
    const resize = (width: number): void => made.setSize({ width, height: HEIGHT })
    const observer = new ResizeObserver(() => resize(current.clientWidth))
    observer.observe(current)
    // No observer learns that a printed page is narrower than the window.
    const ended = new AbortController()
    const { signal } = ended
    addEventListener('beforeprint', () => resize(PAPER_WIDTH), { signal })
    addEventListener('afterprint', () => resize(current.clientWidth), { signal })
    return () => {
      ended.abort()
      observer.disconnect()
      made.destroy()
    }
  }, [names, isDark])

  useEffect(() => plot.current?.setData(stackCurves(curves)), [curves])

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
        // Closer labels would run together.
        space: 76,
        values: (_, times, __, ___, step) => times.map((time) => formatMoment(new Date(time * 1_000), step)),
      },
      { ...axis, size: 44, values: (_, values) => values.map((value) => (value % 1 === 0 ? shortCount(value) : '')) },
    ],
    series: [
      {},
      // The highest curve is drawn first, and the others over it.
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

/** Formats a moment of the axis, whose labels are `step` seconds apart; midnight is shown as a day. */
function formatMoment(moment: Date, step: number): string {
  if (step < 60) return SECONDS.format(moment)
  return (moment.getHours() + moment.getMinutes() > 0 ? MINUTES : DAYS).format(moment)
}

function stackCurves({ times, rows }: Curves): UPlot.AlignedData {
  const sums: number[][] = []
  let below = times.map(() => 0)
  for (const { values } of rows) {
    below = below.map((sum, index) => sum + (values[index] ?? 0))
    sums.unshift(below)
  }
  return [[...times], ...sums]
}
