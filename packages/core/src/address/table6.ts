/**
 * The IPv6 space cut into consecutive segments, on the upper 64 bits: segment i starts at `high[i]`, `low[i]`. Almost
 * no boundary of real data lies below a /64. The /64s that have one are segments of their own, marked in `split`, and
 * are cut further in the `fine` columns; their pieces are numbered on from the last segment. The arrays may stand on
 * shared memory.
 */
export interface Partition6 {
  /** Bits 0 to 31 of the starts. */
  readonly high: Uint32Array
  /** Bits 32 to 63 of the starts. */
  readonly low: Uint32Array
  /** For each of the 2^18 /21s of 2000::/3 the segment of its first address; one more entry closes the last. */
  readonly direct: Uint32Array
  /** One bit a segment, lowest first: set where the segment is one /64 that is cut further. */
  readonly split: Uint32Array
  /** The marked segments, ascending. */
  readonly cells: Uint32Array
  /** Where the pieces of a cell begin in the fine columns; one more entry closes the last. */
  readonly pieces: Uint32Array
  /** Bits 64 to 95 of the pieces' starts. */
  readonly fineHigh: Uint32Array
  /** Bits 96 to 127 of the pieces' starts. */
  readonly fineLow: Uint32Array
}

/** A partition made from plain boundaries; `origin[n]` is the boundary whose value segment or piece n has. */
export interface BuiltPartition6 {
  readonly partition: Partition6
  readonly origin: Uint32Array
}

const CHUNKS = 2 ** 18
const CHUNK_SHIFT = 11
const GLOBAL_UNICAST = 0x20000000

/**
 * Builds a partition from ascending boundaries of four 32-bit words each, flat, of which the first is `::`. Cuts that
 * fall below a /64 go to the fine columns.
 */
export function buildPartition6(boundaries: Uint32Array): BuiltPartition6 {
  const count = boundaries.length / 4
  const word = (boundary: number, index: number) => boundaries[boundary * 4 + index] as number
  const high: number[] = []
  const low: number[] = []
  const origin: number[] = []
  const cells: number[] = []
  const pieces: number[] = [0]
  const fineHigh: number[] = []
  const fineLow: number[] = []
  const fineOrigin: number[] = []
  const segment = (a: number, b: number, from: number) => {
    high.push(a)
    low.push(b)
    origin.push(from)
  }
  const piece = (c: number, d: number, from: number) => {
    fineHigh.push(c)
    fineLow.push(d)
    fineOrigin.push(from)
  }

  for (let first = 0; first < count; ) {
    const a = word(first, 0)
    const b = word(first, 1)
    let next = first + 1
    while (next < count && word(next, 0) === a && word(next, 1) === b) next++
    const startsCell = word(first, 2) === 0 && word(first, 3) === 0
    segment(a, b, first)
    if (next > first + 1 || !startsCell) {
      cells.push(high.length - 1)
      if (!startsCell) piece(0, 0, first - 1)
      for (let boundary = first; boundary < next; boundary++) piece(word(boundary, 2), word(boundary, 3), boundary)
      pieces.push(fineHigh.length)
      // Behind a cell its last value goes on, unless the next boundary stands in the very next /64.
      const nextB = (b + 1) >>> 0
      const nextA = nextB === 0 ? a + 1 : a
      const taken = next < count && word(next, 0) === nextA && word(next, 1) === nextB
      if (!taken && nextA <= 0xffffffff) segment(nextA, nextB, next - 1)
    }
    first = next
  }

  const split = new Uint32Array(Math.ceil(high.length / 32))
  for (const cell of cells) split[cell >>> 5] = (split[cell >>> 5] as number) | (1 << (cell & 31))
  const columns = { high: Uint32Array.from(high), low: Uint32Array.from(low) }
  return {
    partition: {
      ...columns,
      direct: directIndex6(columns.high, columns.low),
      split,
      cells: Uint32Array.from(cells),
      pieces: Uint32Array.from(pieces),
      fineHigh: Uint32Array.from(fineHigh),
      fineLow: Uint32Array.from(fineLow),
    },
    origin: Uint32Array.from([...origin, ...fineOrigin]),
  }
}

/**
 * The number of the segment, or of the piece behind the segments, that holds an IPv6 address, given as the words of an
 * `Address` (signed or not). No allocation.
 */
export function findSegment6(partition: Partition6, a: number, b: number, c: number, d: number): number {
  const { high, low, direct, split } = partition
  const upper = a >>> 0
  const lower = b >>> 0
  let from = 0
  let to = high.length - 1
  if (upper >>> 29 === GLOBAL_UNICAST >>> 29) {
    const chunk = (upper - GLOBAL_UNICAST) >>> CHUNK_SHIFT
    from = direct[chunk] as number
    to = direct[chunk + 1] as number
  }
  while (from < to) {
    const middle = (from + to + 1) >>> 1
    const start = high[middle] as number
    if (start < upper || (start === upper && (low[middle] as number) <= lower)) from = middle
    else to = middle - 1
  }
  return ((split[from >>> 5] as number) >>> (from & 31)) & 1 ? findPiece(partition, from, c >>> 0, d >>> 0) : from
}

function findPiece(partition: Partition6, segment: number, upper: number, lower: number): number {
  const { cells, pieces, fineHigh, fineLow } = partition
  let from = 0
  let to = cells.length - 1
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((cells[middle] as number) < segment) from = middle + 1
    else to = middle
  }
  let low = pieces[from] as number
  let high = (pieces[from + 1] as number) - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    const start = fineHigh[middle] as number
    if (start < upper || (start === upper && (fineLow[middle] as number) <= lower)) low = middle
    else high = middle - 1
  }
  return partition.high.length + low
}

function directIndex6(high: Uint32Array, low: Uint32Array): Uint32Array {
  const direct = new Uint32Array(CHUNKS + 1)
  let segment = 0
  for (let chunk = 0; chunk <= CHUNKS; chunk++) {
    const first = GLOBAL_UNICAST + chunk * 2 ** CHUNK_SHIFT
    while (segment + 1 < high.length) {
      const start = high[segment + 1] as number
      if (start > first || (start === first && (low[segment + 1] as number) > 0)) break
      segment++
    }
    direct[chunk] = segment
  }
  return direct
}
