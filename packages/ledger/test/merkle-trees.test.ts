import fc from 'fast-check'
import t from 'tap'
import { openFrontier } from '../src/index.ts'
import { createProver, splitHashes } from '../src/tree.ts'
import { leafHash, nodeHash, sha256 } from '../src/verify/hash.ts'
import { foldPath, isConsistent, sameBytes } from '../src/verify/tree.ts'

const leaves = Array.from({ length: 1100 }, (_, index) => leafHash(Buffer.from(`record ${index}`)))

/** RFC 6962 2.1, as it is written there. */
function rootByDefinition(part: readonly Uint8Array[]): Uint8Array {
  if (part.length === 0) return sha256('')
  if (part.length === 1) return part[0] as Uint8Array
  let split = 1
  while (split * 2 < part.length) split *= 2
  return nodeHash(rootByDefinition(part.slice(0, split)), rootByDefinition(part.slice(split)))
}

/** The tiles that a store would keep of the first `size` leaves. */
function listTiles(size: number) {
  const tree = openFrontier()
  const levels = new Map<number, Uint8Array[]>([[0, leaves.slice(0, size)]])
  for (const leaf of leaves.slice(0, size)) {
    tree.append(leaf, ({ tileLevel, hash }) => levels.set(tileLevel, [...(levels.get(tileLevel) ?? []), hash]))
  }
  let reads = 0
  async function tile(_log: string, level: number, index: number) {
    reads++
    return Buffer.concat((levels.get(level) ?? []).slice(index * 256, (index + 1) * 256))
  }
  return { tree, prover: createProver({ tile }, 't/a'), reads: () => reads }
}

t.test('hashes are those of RFC 6962', async (t) => {
  t.equal(sha256('').toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  t.equal(leafHash(Buffer.alloc(0)).toString('hex'), '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d')
})

t.test('the tree grows to the root of the definition, and goes on after it was put away', async (t) => {
  let tree = openFrontier()
  for (const [index, leaf] of leaves.entries()) {
    t.equal(sameBytes(tree.root(), rootByDefinition(leaves.slice(0, index))), true)
    tree.append(leaf)
    if (index % 7 === 0) tree = openFrontier(tree.size, tree.encode())
    if (index > 70) break
  }
  t.equal(splitHashes(openFrontier(0).encode()).length, 0)
})

t.test('every path of every size leads to the root, and to no other', async (t) => {
  for (const size of [1, 2, 3, 7, 8, 255, 256, 257, 600, 1024, 1025]) {
    const { tree, prover } = listTiles(size)
    const root = rootByDefinition(leaves.slice(0, size))
    t.equal(sameBytes(tree.root(), root) && sameBytes(await prover.root(size), root), true, `root of ${size}`)
    for (const index of new Set([0, 1, size >> 1, size - 2, size - 1])) {
      if (index < 0 || index >= size) continue
      const path = await prover.inclusion(index, size)
      const leaf = leaves[index] as Uint8Array
      const found = (at: number, of: number, hashes = path) => {
        const led = foldPath(leaf, at, of, hashes)
        return led !== undefined && sameBytes(led, root)
      }
      t.equal(found(index, size), true, `${index} of ${size}`)
      t.equal(found(index + 1, size), false, 'another place')
      t.equal(found(index, size, [...path, root]), false, 'a longer path')
      if (path.length > 0) t.equal(found(index, size, path.slice(1)), false, 'a shorter path')
    }
  }
})

t.test('a later tree continues an earlier one, and no other', async (t) => {
  const sizes = [1, 2, 3, 6, 8, 255, 256, 300, 512, 1000, 1024, 1100]
  const { prover } = listTiles(1100)
  for (const size of sizes) {
    for (const later of sizes.filter((other) => other >= size)) {
      const [root, laterRoot] = [rootByDefinition(leaves.slice(0, size)), rootByDefinition(leaves.slice(0, later))]
      const proof = await prover.consistency(size, later)
      t.equal(isConsistent(size, root, later, laterRoot, proof), true, `${size} to ${later}`)
      const other = rootByDefinition([...leaves.slice(0, size - 1), sha256('x')])
      t.equal(isConsistent(size, other, later, laterRoot, proof), false, `another ${size} to ${later}`)
      t.equal(isConsistent(size, root, later, laterRoot, [...proof, root]), false, 'a longer proof')
    }
  }
  t.equal(isConsistent(3, sha256(''), 2, sha256(''), []), false)
  t.equal(isConsistent(0, sha256(''), 2, sha256(''), []), false)
})

t.test('a proof reads a handful of tiles, whatever the size', async (t) => {
  const { prover, reads } = listTiles(1100)
  await prover.inclusion(10, 1100)
  await prover.inclusion(11, 1100)
  t.ok(reads() <= 3, `${reads()} tiles`)
})

t.test('places up to the largest exact number have no bits to lose', async (t) => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (x, y) => {
      const [index, size] = x < y ? [x, y] : [y, x]
      const path = Array.from({ length: 54 }, () => Buffer.alloc(32))
      const rooted = (length: number) => foldPath(Buffer.alloc(32), index, size, path.slice(0, length)) !== undefined
      // No path is as short as nothing, but in a tree of one leaf, and none is longer than a number has bits.
      return !rooted(54) && (!rooted(0) || size === 1)
    }),
  )
  const size = 2 ** 49 + 1
  const [left, right] = [sha256('left'), sha256('right')]
  const root = nodeHash(left, right)
  t.equal(sameBytes(foldPath(right, size - 1, size, [left]) ?? left, root), true, 'the last leaf has one sibling')
  t.equal(isConsistent(2 ** 49, left, size, root, [right]), true)
  t.equal(isConsistent(2 ** 49 + 1, left, size + 1, root, [right]), false)
})

t.test('too few peaks are refused when a leaf is added, and too many have another root', async (t) => {
  const leaf = Buffer.alloc(32, 0xab)
  for (const size of [1, 3, 7]) t.throws(() => openFrontier(size).append(leaf), /not the peaks/)
  t.throws(() => openFrontier(3, Buffer.alloc(32, 1)).append(leaf), /not the peaks/)
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const many = openFrontier(
    2 ** 53 - 2,
    Buffer.concat([...Array.from({ length: 100 }, () => one), two, Buffer.alloc(31)]),
  )
  many.append(leaf)
  let root: Uint8Array = nodeHash(two, leaf)
  for (let count = 0; count < 100; count++) root = nodeHash(one, root)
  t.same(many.root(), root)
  t.equal(many.encode().length, 102 * 32)
})
