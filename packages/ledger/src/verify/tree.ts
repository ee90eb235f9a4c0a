import { nodeHash } from './hash.ts'

/**
 * The root that an inclusion path leads to (RFC 9162 2.1.3.2); `undefined` when the path cannot be one of leaf `index`
 * in a tree of `size` leaves. Indices may be up to 2^53 - 1, so there is no bit arithmetic here.
 */
export function foldPath(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  const sides = index < size ? listSides(index, size - 1, path.length) : undefined
  return sides && climb(leaf, path, sides)
}

/** Whether a tree of `size` leaves is the start of one of `laterSize` leaves, by a proof (RFC 9162 2.1.4.2). */
export function isConsistent(
  size: number,
  root: Uint8Array,
  laterSize: number,
  laterRoot: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (size < 1 || size > laterSize) return false
  if (size === laterSize) return proof.length === 0 && sameBytes(root, laterRoot)
  let at = size - 1
  let last = laterSize - 1
  while (at % 2 === 1) {
    at = half(at)
    last = half(last)
  }
  // The proof leaves out the root of a complete tree, because the verifier has it.
  const [first, ...rest] = at === 0 ? [root, ...proof] : proof
  const sides = listSides(at, last, rest.length)
  if (first === undefined || sides === undefined) return false
  // Nodes on the right belong to the later tree alone.
  const old = rest.reduce((node, sibling, level) => (sides[level] === 'left' ? nodeHash(sibling, node) : node), first)
  return sameBytes(old, root) && sameBytes(climb(first, rest, sides), laterRoot)
}

/**
 * Lists on which side of a path from node `index` each of its `count` siblings lies; `last` is the last index of that level. Returns
 * `undefined` where the path does not end at the root.
 */
function listSides(index: number, last: number, count: number): readonly ('left' | 'right')[] | undefined {
  const sides: ('left' | 'right')[] = []
  let [at, end] = [index, last]
  while (sides.length < count && end > 0) {
    const isLeft = at % 2 === 1 || at === end
    sides.push(isLeft ? 'left' : 'right')
    // The last node of a level rises until it has a sibling.
    while (isLeft && at % 2 === 0 && at !== 0) {
      at = half(at)
      end = half(end)
    }
    at = half(at)
    end = half(end)
  }
  return end === 0 && sides.length === count ? sides : undefined
}

function climb(start: Uint8Array, siblings: readonly Uint8Array[], sides: readonly ('left' | 'right')[]): Uint8Array {
  return siblings.reduce(
    (node, sibling, level) => (sides[level] === 'left' ? nodeHash(sibling, node) : nodeHash(node, sibling)),
    start,
  )
}

export function sameBytes(x: Uint8Array, y: Uint8Array): boolean {
  return Buffer.compare(x, y) === 0
}

function half(value: number): number {
  return Math.floor(value / 2)
}
