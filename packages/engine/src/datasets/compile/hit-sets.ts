import { sweep } from '../ranges/layout.ts'
import { type Ranges, sizeOf, WORDS } from '../ranges/ranges.ts'
import type { Segments } from '../ranges/segments.ts'

/** Ranges of both families, of which the values are hits: codes of what a list says. */
export type HitRanges = Readonly<Record<4 | 6, Ranges | undefined>>

export interface HitLayers {
  /** Values are numbers of sets. */
  readonly layers: Readonly<Record<4 | 6, Segments>>
  /** The distinct sets of hits, each in the order of the lists; set 0 is empty. */
  readonly sets: readonly (readonly number[])[]
}

/** Lays lists over each other: each segment has the set of hits of all lists that hold it, of each list the smallest range's. */
export function layHits(lists: readonly HitRanges[]): HitLayers {
  const register = createSetRegister()
  const together = (family: 4 | 6): Segments => {
    const { ranges, from } = putTogether(lists, family)
    const { values } = ranges
    return sweep(ranges, (open) => {
      // Nearly every place is in one range.
      if (open.length === 1) return register.only(values[open[0] as number] as number)
      const smallest = new Map<number, number>()
      for (const range of open) {
        const list = from[range] as number
        const known = smallest.get(list)
        if (known === undefined || sizeOf(ranges, range) < sizeOf(ranges, known)) smallest.set(list, range)
      }
      const inOrder = [...smallest].sort(([x], [y]) => x - y)
      return inOrder.reduce((set, [, range]) => register.union(set, register.only(values[range] as number)), 0)
    })
  }
  const four = together(4)
  const six = together(6)
  const { sets, numbers } = register.used([four, six])
  const renumbered = ({ family, count, starts, values }: Segments): Segments => {
    return { family, count, starts, values: values.map((set) => numbers[set] as number) }
  }
  return { layers: { 4: renumbered(four), 6: renumbered(six) }, sets }
}

/** The ranges of all lists in one, and the position of the list that each comes from. */
function putTogether(lists: readonly HitRanges[], family: 4 | 6): { ranges: Ranges; from: Uint16Array } {
  const count = lists.reduce((sum, { [family]: ranges }) => sum + (ranges?.count ?? 0), 0)
  const width = WORDS[family]
  const firsts = new Uint32Array(count * width)
  const lasts = new Uint32Array(count * width)
  const values = new Uint32Array(count)
  const from = new Uint16Array(count)
  let at = 0
  for (const [list, { [family]: ranges }] of lists.entries()) {
    if (ranges === undefined) continue
    firsts.set(ranges.firsts, at * width)
    lasts.set(ranges.lasts, at * width)
    values.set(ranges.values, at)
    from.fill(list, at, at + ranges.count)
    at += ranges.count
  }
  return { ranges: { family, count, firsts, lasts, values }, from }
}

/** Sets of hits by number; a set and another lead to their union, so none is ever written out to be compared. */
function createSetRegister() {
  const sets: (readonly number[])[] = [[]]
  const single = new Map<number, number>()
  const unions = new Map<number, number>()
  return {
    only(hit: number): number {
      const known = single.get(hit)
      if (known !== undefined) return known
      single.set(hit, sets.length)
      return sets.push([hit]) - 1
    },
    union(x: number, y: number): number {
      if (x === 0) return y
      if (y === 0) return x
      const key = x * 2 ** 26 + y
      const known = unions.get(key)
      if (known !== undefined) return known
      unions.set(key, sets.length)
      return sets.push([...(sets[x] as readonly number[]), ...(sets[y] as readonly number[])]) - 1
    },
    /** The sets that these layers hold, the empty one first, and the number that each has among them. */
    used(layers: readonly Segments[]) {
      const numbers = new Int32Array(sets.length).fill(-1)
      const kept: (readonly number[])[] = []
      const keep = (set: number) => {
        if (numbers[set] === -1) numbers[set] = kept.push(sets[set] as readonly number[]) - 1
      }
      keep(0)
      for (const { values } of layers) for (const set of values) keep(set)
      return { sets: kept, numbers }
    },
  }
}
