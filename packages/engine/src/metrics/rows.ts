/** A row for each combination of labels that came. */
export interface Rows<Row> {
  /** The row of these labels, in the order of the metric's: made at their first sight. A label beyond its bound is `other`. */
  of(labels: readonly string[]): Row
  /** In the order in which they were made. */
  readonly all: readonly Row[]
}

/** Requests, or what else is counted, with these labels. */
export interface Count {
  /** Its number among the rows. */
  readonly at: number
  readonly labels: readonly string[]
  count: number
}

/** A value with its labels, in the order of the metric's. */
export type Reading = readonly [labels: readonly string[], value: number]

/** Different values of one label; those of ours are fewer, names of rules and sources are the operator's. */
const MAX_VALUES = 300

/** The label of what did not fit any more. */
const OTHER = 'other'
const MAX_LABEL_LENGTH = 64

interface Branch<Row> {
  readonly next: Map<string, Branch<Row>>
  row: Row | undefined
}

/**
 * A tree with a level for each label: a text made of them, as prom-client makes one for each observation, takes longer
 * than all the rest of counting.
 */
export function createRows<Row>(depth: number, begin: (labels: readonly string[], at: number) => Row): Rows<Row> {
  const root: Branch<Row> = { next: new Map(), row: undefined }
  const known = Array.from({ length: depth }, () => new Set<string>())
  const all: Row[] = []

  /** The first values of a label as they are, all later ones as `other`. */
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

/** Counts by their labels. */
export function createCounts(labels: readonly string[]): Rows<Count> {
  return createRows(labels.length, (labels, at) => ({ at, labels, count: 0 }))
}

export function readingsOf(counts: readonly Count[]): readonly Reading[] {
  return counts.map(({ labels, count }) => [labels, count])
}
