/**
 * Cuts the IPv4 space into consecutive segments, the first of which starts at 0.0.0.0; each ends where the next starts. Columns beside the
 * partition say what a segment means, by its number. The arrays may be views of shared memory.
 */
export interface Partition4 {
  /** Holds the lower 14 bits of each segment's first address; the upper 18 are the chunk that leads to it. */
  readonly lows: Uint16Array
  /** Counts the segments that start before each of the 2^18 chunks of 2^14 addresses; one more entry closes the last. */
  readonly direct: Uint32Array
}

const CHUNK_BITS = 14
const LOW_MASK = 2 ** CHUNK_BITS - 1

/** Builds a partition from ascending starts, of which the first is 0. */
export function buildPartition4(starts: Uint32Array): Partition4 {
  return {
    lows: Uint16Array.from(starts, (start) => start & LOW_MASK),
    direct: buildDirectIndex(starts, 0, CHUNK_BITS),
  }
}

/** Counts the starts before each of 2^18 chunks of 2^`bits` numbers, of which the first begins at `from`. */
export function buildDirectIndex(starts: Uint32Array, from: number, bits: number): Uint32Array {
  let before = 0
  return Uint32Array.from({ length: 2 ** 18 + 1 }, (_, chunk) => {
    const first = from + chunk * 2 ** bits
    while (before < starts.length && (starts[before] as number) < first) before++
    return before
  })
}

/** Returns the number of the segment that holds an IPv4 address, given as the word `d` of an `Address`. Allocates nothing. */
export function findSegment4(partition: Partition4, word: number): number {
  const { lows, direct } = partition
  const chunk = word >>> CHUNK_BITS
  const within = word & LOW_MASK
  // If no segment starts in the chunk at or before the address, the last segment before the chunk holds it.
  let from = (direct[chunk] as number) - 1
  let to = (direct[chunk + 1] as number) - 1
  while (from < to) {
    const middle = (from + to + 1) >>> 1
    if ((lows[middle] as number) <= within) from = middle
    else to = middle - 1
  }
  return from
}
