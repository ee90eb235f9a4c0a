import { type Address, previousAddress } from '@sallyport/core'
import { compareAt, grown, type Ranges } from '../parse/ranges.ts'

/**
 * One family's address space cut into consecutive segments, each with a value: segment i starts at the four words
 * `starts[4 * i]` and on, and runs up to the start of the next. The first starts at 0. Neighbours differ in value.
 */
export interface Segments {
  readonly count: number
  readonly starts: Uint32Array
  readonly values: Uint32Array
}

export interface SegmentWriter {
  /** Starts ascend. A start with the value that already holds is no new segment; of two equal starts the later counts. */
  push(a: number, b: number, c: number, d: number, value: number): void
  finish(): Segments
}

export function createSegmentWriter(capacity = 1024): SegmentWriter {
  let starts = new Uint32Array(capacity * 4)
  let values = new Uint32Array(capacity)
  let count = 0
  return {
    push(a, b, c, d, value) {
      const last = (count - 1) * 4
      const again =
        count > 0 && starts[last] === a && starts[last + 1] === b && starts[last + 2] === c && starts[last + 3] === d
      if (again) count--
      if (count > 0 && values[count - 1] === value) return
      if (count === values.length) {
        starts = grown(starts)
        values = grown(values)
      }
      const at = count * 4
      starts[at] = a
      starts[at + 1] = b
      starts[at + 2] = c
      starts[at + 3] = d
      values[count++] = value
    },
    finish: () => ({ count, starts: starts.subarray(0, count * 4), values: values.subarray(0, count) }),
  }
}

/** The whole space with one value. */
export function uniform(value: number): Segments {
  return { count: 1, starts: new Uint32Array(4), values: Uint32Array.of(value) }
}

/**
 * Lays ranges out as segments; what no range holds has value 0. Where ranges overlap the smallest speaks, and of two
 * equal ones the first.
 */
export function layOut(ranges: Ranges, family: 4 | 6): Segments {
  const order = inOrder(ranges)
  const ends = afterLasts(ranges)
  const writer = createSegmentWriter(ranges.count * 2 + 2)
  let open: number[] = []
  let next = 0
  writer.push(0, 0, 0, 0, 0)
  for (;;) {
    // The next place where a range begins, or where an open one has ended.
    let column = ranges.firsts
    let place = next < order.length ? (order[next] as number) : -1
    for (const range of open) {
      if (reachesTop(ranges.lasts, range, family)) continue
      if (place === -1 || compareAt(ends, range, column, place) < 0) {
        column = ends
        place = range
      }
    }
    if (place === -1) return writer.finish()
    if (open.length > 0) open = open.filter((range) => goesOn(range, column, place))
    for (; next < order.length; next++) {
      const range = order[next] as number
      if (compareAt(ranges.firsts, range, column, place) !== 0) break
      open.push(range)
    }
    const speaking = smallest(ranges, open)
    pushAt(writer, column, place, speaking === -1 ? 0 : (ranges.values[speaking] as number))
  }

  function goesOn(range: number, column: Uint32Array, place: number): boolean {
    return reachesTop(ranges.lasts, range, family) || compareAt(ends, range, column, place) > 0
  }
}

/** Positions of the ranges by their first address; equal ones stay as they came. */
function inOrder({ count, firsts }: Ranges): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, position) => position)
  const sorted = order.every((position) => position === 0 || compareAt(firsts, position - 1, firsts, position) <= 0)
  return sorted ? order : order.sort((x, y) => compareAt(firsts, x, firsts, y) || x - y)
}

/** The addresses after the lasts; meaningless for a range that reaches the top of its family. */
function afterLasts({ lasts }: Ranges): Uint32Array {
  const ends = lasts.slice()
  for (let at = 3; at < ends.length; at += 4) {
    for (let word = at; word > at - 4; word--) {
      const sum = ((ends[word] as number) + 1) >>> 0
      ends[word] = sum
      if (sum !== 0) break
    }
  }
  return ends
}

function reachesTop(lasts: Uint32Array, range: number, family: 4 | 6): boolean {
  for (let word = family === 4 ? 3 : 0; word < 4; word++) if (lasts[range * 4 + word] !== 0xffffffff) return false
  return true
}

function smallest(ranges: Ranges, open: readonly number[]): number {
  let found = -1
  for (const range of open) if (found === -1 || sizeOf(ranges, range) < sizeOf(ranges, found)) found = range
  return found
}

function sizeOf({ firsts, lasts }: Ranges, range: number): number {
  return addressesBetween(firsts, range, lasts, range)
}

/** How many addresses lie from one up to another one, as a floating-point number: exact up to 2^53. */
export function addressesBetween(x: Uint32Array, xPosition: number, y: Uint32Array, yPosition: number): number {
  let sum = 0
  for (let word = 0; word < 4; word++) {
    sum = sum * 2 ** 32 + ((y[yPosition * 4 + word] as number) - (x[xPosition * 4 + word] as number))
  }
  return sum
}

/** First and last address of a segment. */
export function boundsOf({ starts, count }: Segments, segment: number, family: 4 | 6): readonly [Address, Address] {
  const next = segment + 1
  const first = addressAt(starts, segment, family)
  if (next === count) return [first, family === 4 ? { ...first, d: -1 } : { family, a: -1, b: -1, c: -1, d: -1 }]
  return [first, previousAddress(addressAt(starts, next, family)) as Address]
}

function addressAt(words: Uint32Array, position: number, family: 4 | 6): Address {
  const at = position * 4
  const word = (index: number) => (words[at + index] as number) | 0
  return { family, a: word(0), b: word(1), c: word(2), d: word(3) }
}

/** The value of IPv4 segments at an address. */
export function valueAt4({ starts, values, count }: Segments, bits: number): number {
  let low = 0
  let high = count - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((starts[middle * 4 + 3] as number) <= bits) low = middle
    else high = middle - 1
  }
  return values[low] as number
}

/** Puts layers of one family on top of each other: `combine` makes one value of the layers' values at a place. */
export function overlay(layers: readonly Segments[], combine: (values: Uint32Array) => number): Segments {
  const positions = new Uint32Array(layers.length)
  const values = Uint32Array.from(layers, (layer) => layer.values[0] as number)
  const writer = createSegmentWriter(layers.reduce((sum, { count }) => sum + count, 0))
  writer.push(0, 0, 0, 0, combine(values))
  for (;;) {
    let column: Uint32Array | undefined
    let place = 0
    for (let index = 0; index < layers.length; index++) {
      const layer = layers[index] as Segments
      const ahead = (positions[index] as number) + 1
      if (ahead < layer.count && (column === undefined || compareAt(layer.starts, ahead, column, place) < 0)) {
        column = layer.starts
        place = ahead
      }
    }
    if (column === undefined) return writer.finish()
    for (let index = 0; index < layers.length; index++) {
      const layer = layers[index] as Segments
      const ahead = (positions[index] as number) + 1
      if (ahead >= layer.count || compareAt(layer.starts, ahead, column, place) !== 0) continue
      positions[index] = ahead
      values[index] = layer.values[ahead] as number
    }
    pushAt(writer, column, place, combine(values))
  }
}

function pushAt(writer: SegmentWriter, column: Uint32Array, place: number, value: number): void {
  const at = place * 4
  writer.push(column[at] as number, column[at + 1] as number, column[at + 2] as number, column[at + 3] as number, value)
}
