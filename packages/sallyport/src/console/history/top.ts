/** A value and how often it came. */
export interface Counted {
  readonly name: string
  readonly count: number
}

/**
 * The most frequent of many values in bounded memory (Space-Saving, Metwally et al. 2005): what is in the list for
 * certain came more often than one part in `capacity` of all; a count is at most that much too high.
 */
export interface Top {
  add(name: string, by?: number): void
  list(): readonly Counted[]
}

const MAX_NAME = 160

export function createTop(capacity: number): Top {
  const counts = new Map<string, number>()
  /** No count is below it: none ever falls. */
  let floor = 1

  /** Makes room; returns the count of the value that is dropped. */
  function dropRarest(): number {
    let least = Number.POSITIVE_INFINITY
    let rarest = ''
    for (const [name, count] of counts) {
      if (count >= least) continue
      least = count
      rarest = name
      if (count <= floor) break
    }
    floor = least
    counts.delete(rarest)
    return least
  }

  return {
    add(given, by = 1) {
      const name = given.length > MAX_NAME ? `${given.slice(0, MAX_NAME)}…` : given
      const before = counts.get(name) ?? (counts.size < capacity ? 0 : dropRarest())
      counts.set(name, before + by)
    },
    list: () => [...counts].map(([name, count]) => ({ name, count })),
  }
}

/** Several lists as one, the most frequent first. */
export function mergeTops(lists: readonly (readonly Counted[])[], limit: number): readonly Counted[] {
  const all = new Map<string, number>()
  for (const { name, count } of lists.flat()) all.set(name, (all.get(name) ?? 0) + count)
  return [...all]
    .map(([name, count]) => ({ name, count }))
    .sort((x, y) => y.count - x.count || (x.name < y.name ? -1 : 1))
    .slice(0, limit)
}
