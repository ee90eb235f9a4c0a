import { leafHash, nodeHash, sha256 } from './verify/hash.ts'

/** Every eighth level is stored: a tile is the 256 hashes under one stored node. */
const TILE_HEIGHT = 8
export const TILE_WIDTH = 256

const HASH_BYTES = 32

/** Holds a complete inner node that is stored: of `2 ** (8 * tileLevel)` leaves, the `index`-th of its level. */
export interface TreeNode {
  readonly tileLevel: number
  readonly index: number
  readonly hash: Uint8Array
}

export type Frontier = ReturnType<typeof openFrontier>

/** Opens a growing tree (RFC 6962) of `size` leaves as its peaks, the roots of its complete subtrees, largest first. */
export function openFrontier(size = 0, encoded: Uint8Array = new Uint8Array()) {
  const peaks = splitHashes(encoded)
  let count = size
  return {
    get size() {
      return count
    },
    /** Adds a leaf; `onNode` receives every node that must be stored. Throws RangeError if the peaks do not fit this size. */
    append(leaf: Uint8Array, onNode: (node: TreeNode) => void = () => {}): void {
      let node = leaf
      let index = count
      // A leaf at an odd index completes a node, which may complete the next.
      for (let level = 1; index % 2 === 1; level++) {
        const left = peaks.pop()
        if (left === undefined) throw new RangeError(`These are not the peaks of a tree of ${count} leaves.`)
        node = nodeHash(left, node)
        index = (index - 1) / 2
        if (level % TILE_HEIGHT === 0) onNode({ tileLevel: level / TILE_HEIGHT, index, hash: node })
      }
      peaks.push(node)
      count++
    },
    root(): Uint8Array {
      const last = peaks.at(-1)
      if (last === undefined) return sha256('')
      return peaks.slice(0, -1).reduceRight((right: Uint8Array, left) => nodeHash(left, right), last)
    },
    /** Returns the concatenated peaks in the form that `openFrontier` takes. */
    encode: () => Buffer.concat(peaks),
  }
}

/** Splits concatenated hashes. */
export function splitHashes(encoded: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.floor(encoded.length / HASH_BYTES) }, (_, index) =>
    encoded.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  )
}

/** Returns the level-0 tile of these records. */
export function leafTile(records: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(records.map(leafHash))
}

/** Has the stored nodes of the trees of logs, as a `LedgerStore` has them. */
interface Tiles {
  tile(log: string, tileLevel: number, index: number): Promise<Uint8Array>
}

export type Prover = ReturnType<typeof createProver>

/** Proves facts about one log from its tiles. Each tile is read once, and a proof requests all its tiles together. */
export function createProver(store: Tiles, log: string) {
  const tiles = new Map<string, Promise<readonly Uint8Array[]>>()
  const nodes = new Map<string, Promise<Uint8Array>>()

  function tile(tileLevel: number, index: number): Promise<readonly Uint8Array[]> {
    const key = `${tileLevel}/${index}`
    const known = tiles.get(key) ?? store.tile(log, tileLevel, index).then(splitHashes)
    tiles.set(key, known)
    return known
  }

  /** Returns the complete node of `2 ** level` leaves; it is made once, because proofs of neighbours share nearly all nodes. */
  function node(level: number, index: number): Promise<Uint8Array> {
    const key = `${level}/${index}`
    const known = nodes.get(key) ?? makeNode(level, index)
    nodes.set(key, known)
    return known
  }

  async function makeNode(level: number, index: number): Promise<Uint8Array> {
    if (level % TILE_HEIGHT > 0) return nodeHash(await node(level - 1, 2 * index), await node(level - 1, 2 * index + 1))
    const hashes = await tile(level / TILE_HEIGHT, Math.floor(index / TILE_WIDTH))
    const hash = hashes[index % TILE_WIDTH]
    if (hash === undefined) throw new RangeError(`The tree has no node ${index} at level ${level}.`)
    return hash
  }

  /** Returns the root over the leaves from `start` to `end`; `start` is a multiple of the largest power of two inside. */
  async function range(start: number, end: number): Promise<Uint8Array> {
    const width = end - start
    const largest = largestPower(width)
    if (largest === width) return node(Math.log2(width), start / width)
    const parts = [node(Math.log2(largest), start / largest), range(start + largest, end)] as const
    return nodeHash(...(await Promise.all(parts)))
  }

  async function path(index: number, start: number, end: number): Promise<readonly Uint8Array[]> {
    if (end - start === 1) return []
    const middle = start + findSplit(end - start)
    return index < middle
      ? joined(path(index, start, middle), range(middle, end))
      : joined(path(index, middle, end), range(start, middle))
  }

  async function subproof(size: number, start: number, end: number, whole: boolean): Promise<readonly Uint8Array[]> {
    if (size === end - start) return whole ? [] : [await range(start, end)]
    const split = findSplit(end - start)
    const middle = start + split
    return size <= split
      ? joined(subproof(size, start, middle, whole), range(middle, end))
      : joined(subproof(size - split, middle, end, false), range(start, middle))
  }

  return {
    /** Returns the root of the first `size` leaves. */
    root: async (size: number) => (size === 0 ? sha256('') : range(0, size)),
    /** Returns the audit path of leaf `index` in the tree of `size` leaves (RFC 6962 2.1.1). */
    inclusion: (index: number, size: number) => path(index, 0, size),
    /** Proves that the tree of `laterSize` leaves continues that of `size`, at least 1 (RFC 6962 2.1.2). */
    consistency: (size: number, laterSize: number) => subproof(size, 0, laterSize, true),
    leaf: (index: number) => node(0, index),
    /** Returns the roots of the complete subtrees of the first `size` leaves, largest first. */
    async peaks(size: number): Promise<readonly Uint8Array[]> {
      const found: Promise<Uint8Array>[] = []
      for (let start = 0; start < size; ) {
        const width = largestPower(size - start)
        found.push(node(Math.log2(width), start / width))
        start += width
      }
      return Promise.all(found)
    },
  }
}

async function joined(
  hashes: Promise<readonly Uint8Array[]>,
  last: Promise<Uint8Array>,
): Promise<readonly Uint8Array[]> {
  const [before, hash] = await Promise.all([hashes, last])
  return [...before, hash]
}

/** Returns the largest power of two up to `value`; exact up to 2^53. */
function largestPower(value: number): number {
  let power = 1
  while (power * 2 <= value) power *= 2
  return power
}

/** Returns where RFC 6962 splits a tree of `size` leaves: the largest power of two less than `size`. */
function findSplit(size: number): number {
  const power = largestPower(size)
  return power === size ? power / 2 : power
}

/** Finds the first of `size` places that `holds`, by halving; `size` where there is none. */
export async function findFirst(size: number, holds: (place: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, size]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
