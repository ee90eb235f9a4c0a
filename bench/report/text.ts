import { type Figure, isReached, type Machine, type Results, type Spread, type Table } from './result.ts'

/* Results in words: the cells of a table, and a table in Markdown or on a terminal. */

/** Holds the rows and columns of one table by name. */
interface Grid {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Writes the median alone, because `results/` has the spread: three digits of what was measured, and all of a count. */
function medianText({ median: value, runs }: Spread): string {
  if (!Number.isFinite(value)) return 'none'
  if (runs === undefined) return value.toLocaleString('en', { maximumFractionDigits: 2 })
  return value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

/** Lines of the document have at most this many characters. */
const MAX_LINE = 300

/** Writes the goal of a figure behind its cell: ` (≤4)`, ` (≤4 missed)`. */
function goalText(figure: Figure): string {
  const { goal } = figure
  if (goal === undefined) return ''
  const number = medianText({ median: goal.atMost ?? goal.atLeast ?? Number.NaN })
  return ` (${goal.atMost === undefined ? '≥' : '≤'}${number}${isReached(figure) ? '' : ' missed'})`
}

/**
 * Lays a table out: a row for each case, or on a curve for each amount of work, and a column for each thing that was measured.
 * A goal stands in the cell that it judges. Ratios are shown only where a goal is about one: readers divide medians.
 */
function buildGrid({ work, figures }: Table): Grid {
  const makeRow = (figure: Figure) => (work === undefined ? figure.case : (figure.at ?? 0).toLocaleString('en'))
  const several = new Set(figures.map((figure) => figure.case)).size > 1
  const nameSeries = (figure: Figure) => (work !== undefined && several ? figure.case : '')
  const nameColumn = (figure: Figure) => joinParts(nameSeries(figure), figure.what, figure.unit)
  const columns: string[] = []
  const rows = new Map<string, Map<string, string>>()
  const add = (row: string, column: string, text: string) => {
    if (!columns.includes(column)) columns.push(column)
    const cells = rows.get(row) ?? new Map<string, string>()
    rows.set(row, cells.set(column, cells.has(column) ? `${cells.get(column)}; ${text}` : text))
  }
  const ratiosMatter = figures.some(({ goal }) => goal?.of === 'ratio')
  for (const figure of figures) {
    const { value, ratio, peer } = figure
    const goal = goalText(figure)
    const isOfRatio = figure.goal?.of === 'ratio'
    add(makeRow(figure), nameColumn(figure), `${medianText(value)}${isOfRatio && ratio !== undefined ? '' : goal}`)
    if (ratio !== undefined && ratiosMatter) {
      const isOnly = figures.every((other) => other.ratio === undefined || other.what === figure.what)
      add(
        makeRow(figure),
        joinParts(nameSeries(figure), isOnly ? '' : figure.what, `times ${peer}`),
        `${medianText(ratio)}${isOfRatio ? goal : ''}`,
      )
    }
  }
  return {
    head: [work ?? '', ...columns],
    rows: [...rows].map(([name, cells]) => [name, ...columns.map((column) => cells.get(column) ?? '')]),
  }
}

function joinParts(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(', ')
}

/** Adds a sentence to the text: to a line that can still be read, or as the next line. */
function appendSentence(text: string, sentence: string): string {
  const last = text.slice(text.lastIndexOf('\n') + 1)
  return `${text}${last.length + sentence.length < MAX_LINE ? ' ' : '\n'}${sentence}`
}

/** Writes a table as Markdown, whose first cell is its title. */
export function writeTable(table: Table): string {
  const { head, rows } = buildGrid(table)
  const [work = '', ...columns] = head
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line([joinParts(table.title, work), ...columns]), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join(
    '\n',
  )
}

function machineText({ processor, cores, node, date, commit, ...run }: Machine): string {
  const load = `load ${run.load.toFixed(1)}${run.busy ? ', **the machine was busy**' : ''}`
  return `${[`${processor}, ${cores} cores`, `Node ${node}`, date, `\`${commit}\``, load].join('; ')}.`
}

export function durationText(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}

/** Rows of one table of the document; a longer one shows the cases that miss their goal, and all others as one row. */
const MAX_ROWS = 16

/** A long table with one row for the cases that reach their goal: the middle one of their figures, the least and the most. */
function shortenTable(table: Table): Table {
  const missed = new Set(
    table.figures.filter((figure) => figure.goal && !isReached(figure)).map((figure) => figure.case),
  )
  const reached = table.figures.filter((figure) => figure.goal && !missed.has(figure.case))
  const cases = new Set(reached.map((figure) => figure.case))
  if (cases.size === 0 || new Set(table.figures.map((figure) => figure.case)).size <= MAX_ROWS) return table
  // Each goal is held against the figures of its own column.
  const goals = reached.filter((figure, at) => reached.findIndex(({ what }) => what === figure.what) === at)
  const rest = goals.map((goal) => {
    const column = reached.filter(({ what }) => what === goal.what)
    const medians = column.map(({ value }) => value.median).sort((one, other) => one - other)
    const [low = 0, median = 0, high = 0] = [0, medians.length >> 1, -1].map((at) => medians.at(at))
    return { ...goal, case: `${cases.size} others`, value: { ...goal.value, median, low, high } }
  })
  return { ...table, figures: [...table.figures.filter((figure) => missed.has(figure.case)), ...rest] }
}

/** All that a bench measured, as Markdown. */
export function resultsText({ machine, tables, skipped }: Results): string {
  const parts = tables.map((table) => writeTable(shortenTable(table)))
  const notes = skipped.map((text) => `Skipped: ${text}.`)
  return [...parts, [`*${machineText(machine)}*`, ...notes].reduce(appendSentence)].join('\n\n')
}
