import { createGrowingColumn } from './growing-column.ts'
import { buildDirectIndex } from './table4.ts'

/**
 * Cuts the IPv6 space into consecutive segments by the upper 64 bits; the first starts at `::`. Segments whose starts share the upper 32
 * bits are a group. Real data has almost no boundary below a /64. A /64 with such a boundary is a segment of its own, marked in `split`;
 * the `fine` columns cut it into pieces, which are numbered on from the last segment. The arrays may be views of shared memory.
 */
export interface Partition6 {
  /** Holds bits 0 to 31 of the starts of each group, ascending. */
  readonly uppers: Uint32Array
  /** Counts the segments before each group; one more entry closes the last. */
  readonly groups: Uint32Array
  /** Holds bits 32 to 63 of the start of each segment. */
  readonly lowers: Uint32Array
  /** Counts the groups before each of the 2^18 /21s of 2000::/3; one more entry closes the last. */
  readonly direct: Uint32Array
  /** Holds one bit per segment, lowest first: set where the segment is one /64 that is cut further. */
  readonly split: Uint32Array
  /** Lists the marked segments, ascending. */
  readonly cells: Uint32Array
  /** Holds the start of each cell's pieces in the fine columns; one more entry closes the last. */
  readonly pieces: Uint32Array
  /** Holds bits 64 to 95 of the pieces' starts. */
  readonly fineHigh: Uint32Array
  /** Holds bits 96 to 127 of the pieces' starts. */
  readonly fineLow: Uint32Array
}

const CHUNK_BITS = 11
const GLOBAL_UNICAST = 0x20000000

function createColumns6(capacity: number) {
  const uppers = createGrowingColumn(capacity >>> 5)
  const groups = createGrowingColumn(capacity >>> 5)
  const lowers = createGrowingColumn(capacity)
  const values = createGrowingColumn(capacity)
  const cells = createGrowingColumn()
  const pieces = createGrowingColumn()
  const fineHigh = createGrowingColumn()
  const fineLow = createGrowingColumn()
  const fineValues = createGrowingColumn()
  let upper = -1
  return {
    segment(a: number, b: number, value: number): void {
      if (a !== upper) {
        uppers.push(a)
        groups.push(lowers.length)
        upper = a
      }
      lowers.push(b)
      values.push(value)
    },
    /** Marks the last segment as cut further, by the pieces that follow. */
    split(): void {
      cells.push(lowers.length - 1)
      pieces.push(fineHigh.length)
    },
    piece(c: number, d: number, value: number): void {
      fineHigh.push(c)
      fineLow.push(d)
      fineValues.push(value)
    },
    finish(): { readonly partition: Partition6; readonly values: Uint32Array } {
      groups.push(lowers.length)
      pieces.push(fineHigh.length)
      const marked = cells.finish()
      for (const value of fineValues.finish()) values.push(value)
      return {
        partition: {
          uppers: uppers.finish(),
          groups: groups.finish(),
          lowers: lowers.finish(),
          direct: buildDirectIndex(uppers.finish(), GLOBAL_UNICAST, CHUNK_BITS),
          split: buildBitmap(marked, lowers.length),
          cells: marked,
          pieces: pieces.finish(),
          fineHigh: fineHigh.finish(),
          fineLow: fineLow.finish(),
        },
        values: values.finish(),
      }
    },
  }
}

/**
 * Builds a partition from starts in address order, the first of them `::`, each with a value. `capacity` estimates the number of segments.
 * Cuts below a /64 go to the fine columns.
 */
export function createPartition6Writer(capacity: number) {
  const columns = createColumns6(capacity)
  /** `run` holds the starts in the current /64: the two lower words and the value of each, flat. */
  let cellA = 0
  let cellB = 0
  const run: number[] = []
  let length = 0
  let before = 0
  let last = -1

  /** Writes the current /64; `a` and `b` are the upper words of the next start, -1 when there is none. */
  const endCell = (a: number, b: number) => {
    if (length === 0) return
    const startsCell = run[0] === 0 && run[1] === 0
    columns.segment(cellA, cellB, run[2] as number)
    if (length > 3 || !startsCell) {
      columns.split()
      if (!startsCell) columns.piece(0, 0, before)
      for (let at = 0; at < length; at += 3) {
        columns.piece(run[at] as number, run[at + 1] as number, run[at + 2] as number)
      }
      // After a cell its last value continues, unless the next start is in the very next /64.
      const nextB = (cellB + 1) >>> 0
      const nextA = nextB === 0 ? cellA + 1 : cellA
      if ((a !== nextA || b !== nextB) && nextA <= 0xffffffff) columns.segment(nextA, nextB, last)
    }
    before = last
    length = 0
  }

  return {
    /** The words are unsigned. A start with the value of the start before it makes no new segment. */
    push(a: number, b: number, c: number, d: number, value: number): void {
      if (value === last) return
      if (a !== cellA || b !== cellB) {
        endCell(a, b)
        cellA = a
        cellB = b
      }
      run[length++] = c
      run[length++] = d
      run[length++] = value
      last = value
    },
    /** Returns the partition, and the value of each of its segments and pieces. */
    finish() {
      endCell(-1, -1)
      return columns.finish()
    },
  }
}

/** Makes a bitmap of `length` bits, lowest first, in which each number sets its bit. */
function buildBitmap(numbers: Uint32Array, length: number): Uint32Array {
  const bitmap = new Uint32Array(Math.ceil(length / 32))
  for (const number of numbers) bitmap[number >>> 5] = (bitmap[number >>> 5] as number) | (1 << (number & 31))
  return bitmap
}

/** Returns the number of the segment, or of the piece after all segments, that holds an IPv6 address. Allocates nothing. */
export function findSegment6(partition: Partition6, a: number, b: number, c: number, d: number): number {
  const { split } = partition
  const segment = findWhole(partition, a >>> 0, b >>> 0)
  return ((split[segment >>> 5] as number) >>> (segment & 31)) & 1
    ? findPiece(partition, segment, c >>> 0, d >>> 0)
    : segment
}

function findWhole({ uppers, groups, lowers, direct }: Partition6, upper: number, lower: number): number {
  let group = 0
  let last = uppers.length - 1
  if (upper >>> 29 === GLOBAL_UNICAST >>> 29) {
    const chunk = (upper - GLOBAL_UNICAST) >>> CHUNK_BITS
    group = (direct[chunk] as number) - 1
    last = (direct[chunk + 1] as number) - 1
  }
  group = lastAtMost(uppers, group, last, upper)
  const end = (groups[group + 1] as number) - 1
  // An address after its group is in the group's last segment.
  return uppers[group] === upper ? lastAtMost(lowers, (groups[group] as number) - 1, end, lower) : end
}

/** Returns the last place from `first` to `last` whose word is not above `word`; `first` where only words before it could be. */
function lastAtMost(words: Uint32Array, first: number, last: number, word: number): number {
  let from = first
  let to = last
  while (from < to) {
    const middle = (from + to + 1) >>> 1
    if ((words[middle] as number) <= word) from = middle
    else to = middle - 1
  }
  return from
}

function findPiece(partition: Partition6, segment: number, upper: number, lower: number): number {
  const { cells, pieces, fineHigh, fineLow } = partition
  const cell = lastAtMost(cells, 0, cells.length - 1, segment)
  let low = pieces[cell] as number
  let high = (pieces[cell + 1] as number) - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    const start = fineHigh[middle] as number
    if (start < upper || (start === upper && (fineLow[middle] as number) <= lower)) low = middle
    else high = middle - 1
  }
  return partition.lowers.length + low
}
