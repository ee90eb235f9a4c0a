import type { SegmentVisitor } from '../format/partitions.ts'
import { corrupt, type MmdbFile, nodeReader, recordOffset } from './file.ts'

/** Returns the number, from 1, of the record at an offset of the file. */
export type RecordNumber = (at: number) => number

/** Trees share some branches on purpose (IPv4 under several IPv6 prefixes). More visits a node than this mean a circle. */
const MAX_VISITS = 8

/**
 * Walks the tree of a city database once, and visits all networks of one family with the number of their record, 0 for none. Returns how
 * many have a record. Throws `corrupt_data` naming the file.
 */
export function walkNetworks(
  file: MmdbFile,
  family: 4 | 6,
  numberRecord: RecordNumber,
  visit: SegmentVisitor,
  onProgress: (share: number) => void = () => {},
): number {
  const { nodeCount, ipVersion, path } = file
  const read = nodeReader(file)
  const children = { left: 0, right: 0 }
  const ipv4Root = ipVersion === 4 ? 0 : findIpv4Root(file)
  // IPv4 in an IPv6 tree is only walked for IPv4; ::/96 and its aliases are no addresses that a client can have.
  const skipped = family === 6 && ipVersion === 6 ? ipv4Root : -1
  const nodes = new Float64Array(130)
  const depths = new Uint8Array(130)
  const words = new Uint32Array(130 * 4)
  let networks = 0
  let visits = 0
  let top = 0
  nodes[0] = family === 4 ? ipv4Root : 0
  depths[0] = family === 4 ? 96 : 0

  while (top >= 0) {
    const node = nodes[top] as number
    const depth = depths[top] as number
    const at = top * 4
    top--
    if (node >= nodeCount || (node === skipped && depth > 0)) {
      const known = node > nodeCount
      if (known) networks++
      const value = known ? numberRecord(recordOffset(file, node)) : 0
      visit(words[at] as number, words[at + 1] as number, words[at + 2] as number, words[at + 3] as number, value)
      continue
    }
    if (depth === 128) throw corrupt(path, 'the search tree is deeper than an address')
    if (++visits > nodeCount * MAX_VISITS) throw corrupt(path, 'the search tree contains a cycle')
    if ((visits & 0x3ffff) === 0) onProgress(Math.min(visits / nodeCount, 1))
    // Left stays on top of the stack, so that addresses come in order; right has this depth's bit set.
    const right = top + 1
    const left = top + 2
    // Written out: a loop of four takes as long as all the rest.
    words[left * 4] = words[at] as number
    words[left * 4 + 1] = words[at + 1] as number
    words[left * 4 + 2] = words[at + 2] as number
    words[left * 4 + 3] = words[at + 3] as number
    words[right * 4 + (depth >>> 5)] = (words[right * 4 + (depth >>> 5)] as number) | (1 << (31 - (depth & 31)))
    read(node, children)
    nodes[right] = children.right
    nodes[left] = children.left
    depths[right] = depth + 1
    depths[left] = depth + 1
    top = left
  }
  return networks
}

function findIpv4Root(file: MmdbFile): number {
  const read = nodeReader(file)
  const children = { left: 0, right: 0 }
  let node = 0
  for (let depth = 0; depth < 96 && node < file.nodeCount; depth++) {
    read(node, children)
    node = children.left
  }
  return node
}
