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
  add(name: string): void
  list(): readonly Counted[]
}

const MAX_NAME = 160

export function createTop(capacity: number): Top {
  const counts = new Map<string, number>()
  return {
    add(given) {
      const name = given.length > MAX_NAME ? `${given.slice(0, MAX_NAME)}…` : given
      const before = counts.get(name)
      if (before !== undefined) {
        counts.set(name, before + 1)
        return
      }
      if (counts.size < capacity) {
        counts.set(name, 1)
        return
      }
      let least = Number.POSITIVE_INFINITY
      let rarest = ''
      for (const [other, count] of counts) {
        if (count >= least) continue
        least = count
        rarest = other
        if (count === 1) break
      }
      counts.delete(rarest)
      counts.set(name, least + 1)
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
