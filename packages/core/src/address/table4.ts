/**
 * The IPv4 space cut into consecutive segments: segment i holds the addresses from `starts[i]` up to the one before
 * `starts[i + 1]`, and `starts[0]` is 0. What a segment means is in columns beside it, read by its number. The arrays
 * may stand on shared memory.
 */
export interface Partition4 {
  readonly starts: Uint32Array
  /** For each of the 2^18 chunks of 2^14 addresses the segment of its first address; one more entry closes the last. */
  readonly direct: Uint32Array
}

const CHUNK_BITS = 14
const CHUNKS = 2 ** 18

/** The `direct` column of a partition, from ascending starts of which the first is 0. */
export function directIndex4(starts: Uint32Array): Uint32Array {
  const direct = new Uint32Array(CHUNKS + 1)
  let segment = 0
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    const first = chunk * 2 ** CHUNK_BITS
    while (segment + 1 < starts.length && (starts[segment + 1] as number) <= first) segment++
    direct[chunk] = segment
  }
  direct[CHUNKS] = starts.length - 1
  return direct
}

/**
 * The number of the segment that holds an IPv4 address, given as the word `d` of an `Address` (signed or not). One
 * read of the direct index, then a binary search over the few segments of its chunk; no allocation.
 */
export function findSegment4(partition: Partition4, word: number): number {
  const { starts, direct } = partition
  const address = word >>> 0
  const chunk = address >>> CHUNK_BITS
  let low = direct[chunk] as number
  let high = direct[chunk + 1] as number
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((starts[middle] as number) <= address) low = middle
    else high = middle - 1
  }
  return low
}
