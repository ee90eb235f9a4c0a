/** Holds a row for each combination of labels that occurred. */
export interface Rows<Row> {
  /** Returns the row of these labels, in the metric's order, and creates it at first. A label beyond its bound is `other`. */
  of(labels: readonly string[]): Row
  /** Lists rows in the order of their creation. */
  readonly all: readonly Row[]
}

/** Counts requests, or other events, with these labels. */
export interface Count {
  /** Gives the row's index among all rows. */
  readonly at: number
  readonly labels: readonly string[]
  count: number
}

/** A value comes with its labels, in the order of the metric's labels. */
export type Reading = readonly [labels: readonly string[], value: number]

/** The metrics distinguish at most this many values of one label; our own labels have fewer, and operators name rules and sources. */
const MAX_VALUES = 300

/** Replaces a value that exceeds the bound. */
const OTHER = 'other'
const MAX_LABEL_LENGTH = 64

interface Branch<Row> {
  readonly next: Map<string, Branch<Row>>
  row: Row | undefined
}

/** Makes a tree with a level for each label: joining labels to one text, as prom-client does, takes longer than all other counting. */
export function createRows<Row>(depth: number, begin: (labels: readonly string[], at: number) => Row): Rows<Row> {
  const root: Branch<Row> = { next: new Map(), row: undefined }
  const known = Array.from({ length: depth }, () => new Set<string>())
  const all: Row[] = []

  /** Keeps the first values of a label; later values become `other`. */
  function boundedAt(level: number, value: string): string {
    const values = known[level] as Set<string>
    if (values.has(value)) return value
    if (values.size >= MAX_VALUES || value.length > MAX_LABEL_LENGTH) return OTHER
    values.add(value)
    return value
  }

  return {
    all,
    of(values) {
      let at = root
      for (let level = 0; level < depth; level++) {
        const value = values[level] ?? ''
        at = at.next.get(value) ?? below(at, boundedAt(level, value))
      }
      if (at.row !== undefined) return at.row
      at.row = begin(
        known.map((_, level) => boundedAt(level, values[level] ?? '')),
        all.length,
      )
      all.push(at.row)
      return at.row
    },
  }
}

function below<Row>({ next }: Branch<Row>, label: string): Branch<Row> {
  const found = next.get(label) ?? { next: new Map(), row: undefined }
  next.set(label, found)
  return found
}

/** Creates counts by their labels. */
export function createCounts(labels: readonly string[]): Rows<Count> {
  return createRows(labels.length, (labels, at) => ({ at, labels, count: 0 }))
}

export function listReadings(counts: readonly Count[]): readonly Reading[] {
  return counts.map(({ labels, count }) => [labels, count])
}

/** Maps the labels of a metric to their values. */
export function nameLabels(labels: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(labels.map((label, at) => [label, values[at] ?? '']))
}
