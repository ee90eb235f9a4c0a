import { orderOf } from '../parse/order.ts'
import { compareAt, grown, type Ranges, WORDS } from '../parse/ranges.ts'

/**
 * One family's address space cut into consecutive segments, each with a value. A start takes `WORDS[family]` words of
 * `starts`, and its segment runs up to the start of the next. The first starts at 0. Neighbours differ in value.
 */
export interface Segments {
  readonly family: 4 | 6
  readonly count: number
  readonly starts: Uint32Array
  readonly values: Uint32Array
}

export interface SegmentWriter {
  /** Starts ascend. A start with the value that already holds is no new segment; of two equal starts the later counts. */
  push(a: number, b: number, c: number, d: number, value: number): void
  /** The same, with the start at a position of a column. */
  pushAt(column: Uint32Array, position: number, value: number): void
  finish(): Segments
}

export function createSegmentWriter(family: 4 | 6, capacity = 1024): SegmentWriter {
  const width = WORDS[family]
  let starts = new Uint32Array(capacity * width)
  let values = new Uint32Array(capacity)
  let count = 0
  const pushAt = (column: Uint32Array, position: number, value: number) => {
    if (count > 0 && compareAt(family, starts, count - 1, column, position) === 0) count--
    if (count > 0 && values[count - 1] === value) return
    if (count === values.length) {
      starts = grown(starts)
      values = grown(values)
    }
    if (width === 1) starts[count] = column[position] as number
    else for (let word = 0; word < 4; word++) starts[count * 4 + word] = column[position * 4 + word] as number
    values[count++] = value
  }
  return {
    push: (a, b, c, d, value) => pushAt(family === 4 ? Uint32Array.of(d) : Uint32Array.of(a, b, c, d), 0, value),
    pushAt,
    finish: () => ({ family, count, starts: starts.subarray(0, count * width), values: values.subarray(0, count) }),
  }
}

/** The whole space with one value. */
export function uniform(family: 4 | 6, value: number): Segments {
  return { family, count: 1, starts: new Uint32Array(WORDS[family]), values: Uint32Array.of(value) }
}

/**
 * Lays ranges out as segments; what no range holds has value 0. Where ranges overlap the smallest speaks, and of two
 * equal ones the first.
 */
export function layOut(ranges: Ranges): Segments {
  const { values } = ranges
  return sweep(ranges, (open) => values[smallest(ranges, open)] as number)
}

/** Cuts the space wherever a range begins or ends; `worth` tells the value of the ranges that hold a place, one or more. */
export function sweep(ranges: Ranges, worth: (open: readonly number[]) => number): Segments {
  const { family, firsts, lasts, count } = ranges
  const order = orderOf(family, firsts)
  const ends = afterLasts(ranges)
  const writer = createSegmentWriter(family, count * 2 + 2)
  const open: number[] = []
  const alone = [0]
  let next = 0
  writer.push(0, 0, 0, 0, 0)
  for (;;) {
    if (open.length === 0 && next < count) {
      // Most ranges hold no other: such a one is its own segment.
      const range = order[next] as number
      if (next + 1 === count || compareAt(family, lasts, range, firsts, order[next + 1] as number) < 0) {
        alone[0] = range
        writer.pushAt(firsts, range, worth(alone))
        if (!reachesTop(ranges, range)) writer.pushAt(ends, range, 0)
        next++
        continue
      }
    }
    // The next place where a range begins, or where an open one has ended.
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
    writer.pushAt(column, place, open.length === 0 ? 0 : worth(open))
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

/** Addresses of a range but one. */
export function sizeOf({ family, firsts, lasts }: Ranges, range: number): number {
  return addressesBetween(family, firsts, range, lasts, range)
}

/** How many addresses lie from one up to another one, as a floating-point number: exact up to 2^53. */
export function addressesBetween(
  family: 4 | 6,
  x: Uint32Array,
  xPosition: number,
  y: Uint32Array,
  yPosition: number,
): number {
  if (family === 4) return (y[yPosition] as number) - (x[xPosition] as number)
  let sum = 0
  for (let word = 0; word < 4; word++) {
    sum = sum * 2 ** 32 + ((y[yPosition * 4 + word] as number) - (x[xPosition * 4 + word] as number))
  }
  return sum
}

/** Writes the words of a segment's first and last address into `bounds`. */
export function readBounds(
  { family, starts, count }: Segments,
  segment: number,
  { first, last }: { readonly first: Uint32Array; readonly last: Uint32Array },
): void {
  const width = WORDS[family]
  const next = segment + 1
  for (let word = 0; word < width; word++) first[word] = starts[segment * width + word] as number
  // One less than the next start: a word that is zero borrows from the one above it.
  let borrow = true
  for (let word = width - 1; word >= 0; word--) {
    const value = next === count ? 0 : (starts[next * width + word] as number)
    last[word] = borrow ? value - 1 : value
    borrow = borrow && value === 0
  }
}

/** The value of IPv4 segments at an address. */
export function valueAt4({ starts, values, count }: Segments, bits: number): number {
  let low = 0
  let high = count - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((starts[middle] as number) <= bits) low = middle
    else high = middle - 1
  }
  return values[low] as number
}

/** Puts two layers of one family on top of each other: `combine` makes one value of both layers' values at a place. */
export function overlay(x: Segments, y: Segments, combine: (x: number, y: number) => number): Segments {
  const { family } = x
  const writer = createSegmentWriter(family, x.count + y.count)
  for (let atX = 0, atY = 0; ; ) {
    const value = combine(x.values[atX] as number, y.values[atY] as number)
    // The segment begins where the later one of both does.
    if (compareAt(family, x.starts, atX, y.starts, atY) >= 0) writer.pushAt(x.starts, atX, value)
    else writer.pushAt(y.starts, atY, value)
    const isLastX = atX + 1 === x.count
    const isLastY = atY + 1 === y.count
    if (isLastX && isLastY) return writer.finish()
    const order = isLastX ? 1 : isLastY ? -1 : compareAt(family, x.starts, atX + 1, y.starts, atY + 1)
    if (order <= 0) atX++
    if (order >= 0) atY++
  }
}
