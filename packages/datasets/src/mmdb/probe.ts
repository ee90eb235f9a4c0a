import { type Address, address4, address6, formatAddress } from '@sallyport/core'
import { corrupt, type MmdbFile, recordOffset, recordReader } from './file.ts'
import { createRecordCheck } from './values.ts'

const PROBES = 400

/**
 * Reads records from all over the tree, so that a corrupt file is refused when it is opened and not in an answer.
 * Each probe goes down by other bits, and around what is empty. Throws `corrupt_data` naming the file. Gives what was
 * read: one value for each probe that found a record.
 */
export function probe(file: MmdbFile, family: 4 | 6): readonly unknown[] {
  const check = createRecordCheck(file)
  const found: unknown[] = []
  let seed = 1
  const nextBits = () => {
    // A linear congruential generator (Numerical Recipes): the same probes for the same file, every time.
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed
  }
  for (let count = 0; count < PROBES; count++) {
    const hit = descend(file, family, [nextBits(), nextBits(), nextBits(), nextBits()])
    if (hit === undefined) continue
    const { address, record } = hit
    check(record)
    try {
      found.push(file.reader.get(formatAddress(address)))
    } catch (error) {
      throw corrupt(file.path, `${formatAddress(address)}: ${error instanceof Error ? error.message : 'unreadable'}`)
    }
  }
  return found
}

interface Hit {
  readonly address: Address
  /** The offset of its record in the file. */
  readonly record: number
}

/** An address that has a record, along `bits` where that leads to one; `undefined` where the whole tree is empty. */
function descend(file: MmdbFile, family: 4 | 6, bits: readonly number[]): Hit | undefined {
  const { nodeCount, path, ipVersion } = file
  const next = recordReader(file)
  const words = [0, 0, 0, 0]
  let node = 0
  let depth = family === 4 && ipVersion === 4 ? 96 : 0
  for (; depth < 128 && node < nodeCount; depth++) {
    const word = depth >>> 5
    const bit = 1 << (31 - (depth & 31))
    const toIpv4 = family === 4 && depth < 96
    const wanted = !toIpv4 && ((bits[word] as number) & bit) !== 0
    const right = !toIpv4 && next(node, wanted) === nodeCount ? !wanted : wanted
    node = next(node, right)
    if (right) words[word] = (words[word] as number) | bit
  }
  if (node < nodeCount) throw corrupt(path, 'the search tree is deeper than an address')
  if (node === nodeCount) return undefined
  const [a, b, c, d] = words as [number, number, number, number]
  const address = family === 4 ? address4(d) : address6(a, b, c, d)
  return { address, record: recordOffset(file, node) }
}
