/** A value with its labels, in the order of the metric's. */
export type Reading = readonly [labels: readonly string[], value: number]

/** Counts by their labels. */
export interface Tally {
  /** `labels` in the order of the metric's; a label beyond its bound is `other`. */
  add(labels: readonly string[], by: number): void
  readings(): readonly Reading[]
}

/** Different values of one label; those of ours are fewer, names of rules and sources are the operator's. */
const MAX_VALUES = 300

interface Branch {
  readonly next: Map<string, Branch>
  count: number
}

/**
 * A tree with a level for each of `labels`: a text made of them, as prom-client makes one for each observation, takes
 * longer than all the rest of counting.
 */
export function createTally(labels: readonly string[]): Tally {
  const root = branch()
  const bounds = labels.map(() => createBound(MAX_VALUES))

  function readingsUnder({ next, count }: Branch, above: readonly string[]): readonly Reading[] {
    if (next.size === 0) return count === 0 ? [] : [[above, count]]
    return [...next].flatMap(([label, below]) => readingsUnder(below, [...above, label]))
  }

  return {
    add(values, by) {
      let at = root
      for (let level = 0; level < bounds.length; level++) {
        const label = (bounds[level] as (value: string) => string)(values[level] ?? '')
        let below = at.next.get(label)
        if (below === undefined) {
          below = branch()
          at.next.set(label, below)
        }
        at = below
      }
      at.count += by
    },
    readings: () => readingsUnder(root, []),
  }
}

function branch(): Branch {
  return { next: new Map(), count: 0 }
}

/** The label of what did not fit any more. */
const OTHER = 'other'
const MAX_LABEL_LENGTH = 64

/** Values of one label: the first `max` different ones as they are, all later ones as `other`. */
function createBound(max: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= max || value.length > MAX_LABEL_LENGTH) return OTHER
    known.add(value)
    return value
  }
}
