import { nodeHash } from './hash.ts'

/**
 * The root that an inclusion path leads to (RFC 9162 2.1.3.2); `undefined` when the path cannot be one of leaf `index`
 * in a tree of `size` leaves. Indices may be up to 2^53 - 1, so there is no bit arithmetic here.
 */
export function rootOfPath(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  if (index >= size) return undefined
  let node = leaf
  let at = index
  let last = size - 1
  for (const sibling of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      node = nodeHash(sibling, node)
      while (at % 2 === 0 && at !== 0) {
        at = half(at)
        last = half(last)
      }
    } else {
      node = nodeHash(node, sibling)
    }
    at = half(at)
    last = half(last)
  }
  return last === 0 ? node : undefined
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
  const [first, ...rest] = isPowerOfTwo(size) ? [root, ...proof] : proof
  if (first === undefined) return false
  let at = size - 1
  let last = laterSize - 1
  while (at % 2 === 1) {
    at = half(at)
    last = half(last)
  }
  let old = first
  let later = first
  for (const sibling of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      old = nodeHash(sibling, old)
      later = nodeHash(sibling, later)
      while (at % 2 === 0 && at !== 0) {
        at = half(at)
        last = half(last)
      }
    } else {
      later = nodeHash(later, sibling)
    }
    at = half(at)
    last = half(last)
  }
  return last === 0 && sameBytes(old, root) && sameBytes(later, laterRoot)
}

export function sameBytes(x: Uint8Array, y: Uint8Array): boolean {
  return Buffer.compare(x, y) === 0
}

function half(value: number): number {
  return Math.floor(value / 2)
}

function isPowerOfTwo(value: number): boolean {
  let rest = value
  while (rest % 2 === 0) rest = half(rest)
  return rest === 1
}
