import { corrupt, type MmdbFile, nodeReader, recordOffset } from './file.ts'
import { createRecordReader } from './values.ts'

const PROBES = 400

/**
 * Reads records from all over the tree, so that a corrupt file is refused when it is opened and not in an answer.
 * Each probe goes down by other bits, and around what is empty. Throws `corrupt_data` naming the file. Gives what was
 * read: one value for each probe that found a record.
 */
export function probe(file: MmdbFile, family: 4 | 6): readonly unknown[] {
  const read = createRecordReader(file)
  const found: unknown[] = []
  let seed = 1
  const nextBits = () => {
    // A linear congruential generator (Numerical Recipes): the same probes for the same file, every time.
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed
  }
  for (let count = 0; count < PROBES; count++) {
    const record = descend(file, family, [nextBits(), nextBits(), nextBits(), nextBits()])
    if (record !== undefined) found.push(read(record))
  }
  return found
}

/** The offset of a record, along `bits` where that leads to one; `undefined` where the whole tree is empty. */
function descend(file: MmdbFile, family: 4 | 6, bits: readonly number[]): number | undefined {
  const { nodeCount, path, ipVersion } = file
  const readNode = nodeReader(file)
  const children = { left: 0, right: 0 }
  let node = 0
  let depth = family === 4 && ipVersion === 4 ? 96 : 0
  for (; depth < 128 && node < nodeCount; depth++) {
    const bit = 1 << (31 - (depth & 31))
    const toIpv4 = family === 4 && depth < 96
    const wanted = !toIpv4 && ((bits[depth >>> 5] as number) & bit) !== 0
    readNode(node, children)
    const [first, other] = wanted ? [children.right, children.left] : [children.left, children.right]
    node = !toIpv4 && first === nodeCount ? other : first
  }
  if (node < nodeCount) throw corrupt(path, 'the search tree is deeper than an address')
  return node === nodeCount ? undefined : recordOffset(file, node)
}
