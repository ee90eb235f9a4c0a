import { layOut } from '../ranges/layout.ts'
import { sortRanges } from '../ranges/range-order.ts'
import { joinColumns, mapValues, type Ranges } from '../ranges/ranges.ts'
import { createSegmentWriter, type Layers, type Segments, uniform } from '../ranges/segments.ts'

/** Ranges of both families, of which the values are hits: codes of what a list says. */
export type HitRanges = Readonly<Record<4 | 6, Ranges | undefined>>

export type HitLayers = ReturnType<typeof layHits>

/** Lays lists over each other: each segment has the set of hits of all lists that hold it, of each list the smallest range's. */
export function layHits(lists: readonly HitRanges[]) {
  const register = createSetRegister()
  const together = (family: 4 | 6): Segments => {
    const laid = lists.map(({ [family]: ranges }) =>
      ranges === undefined ? uniform(family, 0) : layOut(mapValues(ranges, (hit) => hit + 1)),
    )
    const { words: starts, from } = joinColumns(
      family,
      laid.map((segments) => segments.starts),
    )
    // A value is a hit plus 1, or 0 for none.
    const { words: values } = joinColumns(
      4,
      laid.map((segments) => segments.values),
    )
    const writer = createSegmentWriter(family, from.length + 1)
    writer.push(0, 0, 0, 0, 0)
    const said = new Uint32Array(lists.length)
    // The lists that say something of the place, in their order.
    const saying: number[] = []
    for (const at of sortRanges(family, starts)) {
      const list = from[at] as number
      const value = values[at] as number
      if (said[list] === 0) saying.splice(findPlace(saying, list), 0, list)
      said[list] = value
      if (value === 0) saying.splice(saying.indexOf(list), 1)
      let set = 0
      for (const other of saying) set = register.union(set, register.only((said[other] as number) - 1))
      writer.pushAt(starts, at, set)
    }
    return writer.finish()
  }
  const four = together(4)
  const six = together(6)
  const { sets, numbers } = register.used([four, six])
  const renumbered = ({ family, count, starts, values }: Segments): Segments => {
    return { family, count, starts, values: values.map((set) => numbers[set] as number) }
  }
  const layers: Layers = { 4: renumbered(four), 6: renumbered(six) }
  /** The distinct sets of hits, which the layers' values number, each in the order of the lists; set 0 is empty. */
  return { layers, sets }
}

/** Returns where to insert a number among ascending numbers. */
function findPlace(numbers: readonly number[], number: number): number {
  let at = numbers.length
  while (at > 0 && (numbers[at - 1] as number) > number) at--
  return at
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
    /** Returns the sets that these layers hold, the empty set first, and the new number of each set. */
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
