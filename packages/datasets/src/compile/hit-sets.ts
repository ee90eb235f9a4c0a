import { mapped, type Ranges, withValues } from '../parse/ranges.ts'
import { layOut, overlay, type Segments, uniform } from './segments.ts'

/** Ranges of both families, of which the values are hits: numbers that stand for what a list says. */
export type HitRanges = Readonly<Record<4 | 6, Ranges | undefined>>

export interface HitLayers {
  /** Values are numbers of sets. */
  readonly layers: Readonly<Record<4 | 6, Segments>>
  /** The distinct sets of hits, each in the order of the lists; set 0 is empty. */
  readonly sets: readonly (readonly number[])[]
}

/**
 * Lays lists over each other: each segment has the set of hits of all lists that hold it. Neighbours are put together
 * two and two, so that a list is walked over once for each doubling of their number.
 */
export function layHits(lists: readonly HitRanges[]): HitLayers {
  const register = createSetRegister()
  const together = (family: 4 | 6): Segments => {
    let layers = lists.flatMap(({ [family]: ranges }) => {
      return ranges === undefined ? [] : [layOut(withValues(ranges, mapped(ranges.values, register.only)))]
    })
    while (layers.length > 1) {
      layers = layers.flatMap((layer, index) => {
        if (index % 2 === 1) return []
        const next = layers[index + 1]
        return [next === undefined ? layer : overlay(layer, next, register.union)]
      })
    }
    return layers[0] ?? uniform(family, 0)
  }
  const four = together(4)
  const six = together(6)
  const { sets, numbers } = register.used([four, six])
  const renumbered = ({ family, count, starts, values }: Segments): Segments => {
    return { family, count, starts, values: mapped(values, (set) => numbers[set] as number) }
  }
  return { layers: { 4: renumbered(four), 6: renumbered(six) }, sets }
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
