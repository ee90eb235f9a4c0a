import { sortRanges } from './range-order.ts'
import { compareAt, measureRange, type Ranges, WORDS } from './ranges.ts'
import { createSegmentWriter, type Segments } from './segments.ts'

/**
 * Lays ranges out as segments; space that no range holds has value 0. Where ranges overlap the smallest counts, and of two equal ranges the
 * first. A list of nested ranges that is made to take long takes no longer than others.
 */
export function layOut(ranges: Ranges): Segments {
  const { family, firsts, values, count } = ranges
  const order = sortRanges(family, firsts)
  const ends = afterLasts(ranges)
  const rangeAt = (rank: number) => order[rank] as number
  const open = createHeap((x, y) => measureRange(ranges, rangeAt(x)) - measureRange(ranges, rangeAt(y)) || x - y)
  const writer = createSegmentWriter(family, count * 2 + 2)
  writer.push(0, 0, 0, 0, 0)
  for (let next = 0; ; ) {
    // Either a range begins, or the smallest of the open ones has ended: no other changes what holds.
    const top = open.least()
    const ending = top === undefined || reachesTop(ranges, rangeAt(top)) ? -1 : rangeAt(top)
    const beginning = next < count ? rangeAt(next) : -1
    if (beginning === -1 && ending === -1) return writer.finish()
    const isBegin = ending === -1 || (beginning !== -1 && compareAt(family, firsts, beginning, ends, ending) < 0)
    if (isBegin) open.push(next++)
    const column = isBegin ? firsts : ends
    const place = isBegin ? beginning : ending
    for (let least = open.least(); least !== undefined; least = open.least()) {
      const range = rangeAt(least)
      if (reachesTop(ranges, range) || compareAt(family, ends, range, column, place) > 0) break
      open.pop()
    }
    const holding = open.least()
    writer.pushAt(column, place, holding === undefined ? 0 : (values[rangeAt(holding)] as number))
  }
}

/** Creates a heap of numbers, of which the least by `compare` comes first. */
function createHeap(compare: (x: number, y: number) => number) {
  const items: number[] = []
  const item = (at: number) => items[at] as number
  return {
    least: (): number | undefined => items[0],
    push(pushed: number): void {
      let at = items.push(pushed) - 1
      for (let above = (at - 1) >> 1; at > 0 && compare(pushed, item(above)) < 0; above = (at - 1) >> 1) {
        items[at] = item(above)
        at = above
      }
      items[at] = pushed
    },
    pop(): void {
      const moved = items.pop()
      if (moved === undefined || items.length === 0) return
      let at = 0
      for (let below = 1; below < items.length; below = at * 2 + 1) {
        if (below + 1 < items.length && compare(item(below + 1), item(below)) < 0) below++
        if (compare(moved, item(below)) <= 0) break
        items[at] = item(below)
        at = below
      }
      items[at] = moved
    },
  }
}

/** Returns the addresses after the lasts; meaningless for a range that reaches the top of its family. */
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
