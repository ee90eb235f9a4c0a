import { type Address, address4, address6, previousAddress } from '@sallyport/core'
import type { Entry } from './entry.ts'
import { compareAt, WORDS } from './ranges.ts'

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

export type Layers = Readonly<Record<4 | 6, Segments>>

/** Collects segments. Starts ascend. A start with the value that already holds is no new segment; of two equal starts the later counts. */
export function createSegmentWriter(family: 4 | 6, capacity = 1024) {
  const width = WORDS[family]
  let starts = new Uint32Array(capacity * width)
  let values = new Uint32Array(capacity)
  let count = 0
  const pushed = new Uint32Array(width)
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
    push(a: number, b: number, c: number, d: number, value: number): void {
      if (family === 4) pushed[0] = d
      else pushed.set([a, b, c, d])
      pushAt(pushed, 0, value)
    },
    /** Pushes the start at a position of a column. */
    pushAt,
    finish: (): Segments => ({
      family,
      count,
      starts: starts.subarray(0, count * width),
      values: values.subarray(0, count),
    }),
  }
}

/** Returns a copy of twice the length. */
function grown(column: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(column.length * 2)
  larger.set(column)
  return larger
}

/** Covers the whole space with one value. */
export function uniform(family: 4 | 6, value: number): Segments {
  return { family, count: 1, starts: new Uint32Array(WORDS[family]), values: Uint32Array.of(value) }
}

/** Returns the first and the last address of a segment. */
export function readBounds(segments: Segments, segment: number): Entry {
  const { family, count } = segments
  const first = startAt(segments, segment)
  if (segment + 1 === count) return { first, last: family === 4 ? address4(-1) : address6(-1, -1, -1, -1) }
  return { first, last: previousAddress(startAt(segments, segment + 1)) as Address }
}

/** Returns the start of a segment, which stays an IPv6 address also among those that map IPv4. */
function startAt({ family, starts }: Segments, segment: number): Address {
  if (family === 4) return address4(starts[segment] as number)
  const [a = 0, b = 0, c = 0, d = 0] = starts.subarray(segment * 4, segment * 4 + 4)
  return { family, a: a | 0, b: b | 0, c: c | 0, d: d | 0 }
}

/** Returns the value of segments at an address of `WORDS[family]` words. */
export function valueAt({ family, starts, values, count }: Segments, words: Uint32Array): number {
  let low = 0
  let high = count - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (compareAt(family, starts, middle, words, 0) <= 0) low = middle
    else high = middle - 1
  }
  return values[low] as number
}

/** Combines two layers of one family: `combine` makes one value of both layers' values at a place. */
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
