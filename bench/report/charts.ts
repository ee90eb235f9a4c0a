import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import type { Figure, Table } from './result.ts'

/* Charts of results, as SVG that is readable on light and on dark pages: they have a background of their own. */
const WIDTH = 720
const LOOK = `svg{background:#fff;color:#24292f;border-radius:6px}@media(prefers-color-scheme:dark){svg{background:#22272e;color:#d0d7de}}`
/** Colours that differ on both backgrounds, also for those who see few. */
const [OURS, THEIRS] = ['#2a7fd4', '#8a8f98']
const COLOURS = [OURS, '#d9730d', '#2f9e6e', '#b35bb8', THEIRS]

/** The chart of a table that names one: lines on a curve, else bars. */
export function chartOf(table: Table): string {
  const [first] = table.figures
  const figures = table.figures.filter(({ what, unit }) => what === first?.what && unit === first.unit)
  return table.work === undefined ? barsOf(figures) : linesOf(table.work, figures)
}

function linesOf(work: string, figures: readonly Figure[]): string {
  const points = figures.map(({ case: name, at, value: { median, low, high } }) => {
    return { series: worded(name), at, median, low: low ?? median, high: high ?? median }
  })
  const amounts = [...new Set(points.map(({ at }) => at ?? 0))].sort((x, y) => x - y)
  const [first] = figures
  return draw({
    height: 270,
    marginBottom: 45,
    marginLeft: 60,
    marginRight: 200,
    x: { type: 'log', label: `${work} →`, ticks: amounts, tickFormat: plain },
    y: { label: [first?.what, first?.unit].filter(Boolean).join(', '), grid: true, zero: true, tickFormat: plain },
    marks: [
      Plot.ruleX(points, { x: 'at', y1: 'low', y2: 'high', stroke: 'series', strokeWidth: 3, strokeOpacity: 0.4 }),
      Plot.lineY(points, { x: 'at', y: 'median', stroke: 'series', marker: true }),
      Plot.text(points, Plot.selectLast({ x: 'at', y: 'median', z: 'series', text: 'series', ...BESIDE })),
    ],
  })
}

const BESIDE = { textAnchor: 'start', dx: 10, fontSize: 12 } as const

function barsOf(figures: readonly Figure[]): string {
  const [first] = figures
  const hasRatio = figures.every(({ ratio }) => ratio !== undefined)
  const rows = figures.map((figure) => {
    const { median, low, high } = hasRatio ? (figure.ratio ?? figure.value) : figure.value
    return {
      name: worded(figure.case),
      isOurs: figure.case.includes('Sallyport'),
      median,
      low: low ?? median,
      high: high ?? median,
      text: plain(median),
    }
  })
  return draw({
    height: 65 + 30 * rows.length,
    marginBottom: 45,
    marginLeft: 260,
    marginRight: 60,
    x: { label: hasRatio ? `${first?.what}, times ${first?.peer} →` : `${first?.what}, ${first?.unit} →`, grid: true },
    y: { label: null, domain: rows.map(({ name }) => name) },
    marks: [
      Plot.barX(rows, {
        x: 'median',
        y: 'name',
        fill: ({ isOurs }: { isOurs: boolean }) => (isOurs ? OURS : THEIRS),
        insetTop: 2,
        insetBottom: 2,
      }),
      Plot.ruleY(rows, { x1: 'low', x2: 'high', y: 'name', stroke: 'currentColor', strokeWidth: 2 }),
      Plot.text(rows, { x: 'high', y: 'name', text: 'text', ...BESIDE, dx: 6 }),
    ],
  })
}

function draw(options: Plot.PlotOptions): string {
  const { document } = parseHTML('<html></html>')
  const color = { range: COLOURS }
  const svg = Plot.plot({ document, width: WIDTH, style: { fontSize: '12px' }, color, ...options })
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  const style = document.createElement('style')
  style.textContent = LOOK
  svg.prepend(style)
  return `${svg.outerHTML}\n`
}

/** Without the marks of Markdown. */
function worded(text: string): string {
  return text.replaceAll('`', '')
}

function plain(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 })
}
