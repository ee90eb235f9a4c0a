import { orderOf } from './range-order.ts'
import { compareAt, type Ranges, sizeOf, WORDS } from './ranges.ts'
import { createSegmentWriter, type Segments } from './segments.ts'

/**
 * Lays ranges out as segments; what no range holds has value 0. Where ranges overlap the smallest counts, and of two
 * equal ones the first.
 */
export function layOut(ranges: Ranges): Segments {
  const { values } = ranges
  return sweep(ranges, (open) => values[smallest(ranges, open)] as number)
}

/** Cuts the space wherever a range begins or ends; `valueFor` gives the value of the ranges, one or more, that hold a segment. */
export function sweep(ranges: Ranges, valueFor: (open: readonly number[]) => number): Segments {
  const { family, firsts, count } = ranges
  const order = orderOf(family, firsts)
  const ends = afterLasts(ranges)
  const writer = createSegmentWriter(family, count * 2 + 2)
  const open: number[] = []
  let next = 0
  writer.push(0, 0, 0, 0, 0)
  for (;;) {
    // The next address at which a range begins, or an open one has ended.
    let column = firsts
    let place = next < count ? (order[next] as number) : -1
    for (const range of open) {
      if (reachesTop(ranges, range)) continue
      if (place === -1 || compareAt(family, ends, range, column, place) < 0) {
        column = ends
        place = range
      }
    }
    if (place === -1) return writer.finish()
    let kept = 0
    for (const range of open) {
      if (reachesTop(ranges, range) || compareAt(family, ends, range, column, place) > 0) open[kept++] = range
    }
    open.length = kept
    for (; next < count; next++) {
      const range = order[next] as number
      if (compareAt(family, firsts, range, column, place) !== 0) break
      open.push(range)
    }
    writer.pushAt(column, place, open.length === 0 ? 0 : valueFor(open))
  }
}

/** The addresses after the lasts; meaningless for a range that reaches the top of its family. */
function afterLasts({ family, lasts }: Ranges): Uint32Array {
  const width = WORDS[family]
  const ends = lasts.slice()
  for (let at = width - 1; at < ends.length; at += width) {
    for (let word = at; word > at - width; word--) {
      const sum = ((ends[word] as number) + 1) >>> 0
      ends[word] = sum
      if (sum !== 0) break
    }
  }
  return ends
}

function reachesTop({ family, lasts }: Ranges, range: number): boolean {
  const width = WORDS[family]
  for (let word = range * width; word < (range + 1) * width; word++) if (lasts[word] !== 0xffffffff) return false
  return true
}

function smallest(ranges: Ranges, open: readonly number[]): number {
  let found = -1
  for (const range of open) if (found === -1 || sizeOf(ranges, range) < sizeOf(ranges, found)) found = range
  return found
}
