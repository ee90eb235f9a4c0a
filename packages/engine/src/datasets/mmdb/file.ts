import { SallyportError } from '@sallyport/core'
import { type CityResponse, Reader } from 'maxmind'

/** A MaxMind DB in memory whose outer form has been checked: tree, separator, data section and metadata lie in it. */
export interface MmdbFile {
  readonly path: string
  readonly bytes: Buffer
  readonly reader: Reader<CityResponse>
  readonly ipVersion: 4 | 6
  readonly nodeCount: number
  /** Each of a node's two records takes so many bits. */
  readonly recordSize: 24 | 28 | 32
  readonly dataStart: number
  readonly dataEnd: number
  /** When the database was built, in milliseconds since the epoch; absent when it says nothing sensible. */
  readonly built?: number | undefined
}

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
/** The format keeps the metadata in the last 128 KiB; without the marker there the file is cut short or is none. */
const METADATA_REACH = 128 * 1024
const SEPARATOR = 16

/** Checks the outer form of a MaxMind DB. Throws `corrupt_data` naming the file. */
export function parseMmdb(bytes: Buffer, path: string): MmdbFile {
  const tail = Math.max(0, bytes.length - METADATA_REACH)
  const marker = bytes.subarray(tail).lastIndexOf(MARKER)
  if (marker === -1) throw corrupt(path, 'the file has no metadata at its end, so it is truncated or not a MaxMind DB')
  const reader = openReader(bytes, path)
  const { nodeCount, recordSize, searchTreeSize, ipVersion, binaryFormatMajorVersion, buildEpoch } = reader.metadata
  const dataStart = searchTreeSize + SEPARATOR
  const dataEnd = tail + marker
  if (binaryFormatMajorVersion !== 2) throw corrupt(path, 'the file does not have version 2 of the MaxMind DB format')
  if (ipVersion !== 4 && ipVersion !== 6) throw corrupt(path, 'the database is for neither IPv4 nor IPv6')
  if (recordSize !== 24 && recordSize !== 28 && recordSize !== 32) throw corrupt(path, 'the record size is unknown')
  if (!Number.isInteger(nodeCount) || nodeCount < 1 || dataStart > dataEnd) {
    throw corrupt(path, 'the search tree does not fit into the file')
  }
  if (bytes.subarray(searchTreeSize, dataStart).some((byte) => byte !== 0)) {
    throw corrupt(path, 'the search tree does not end where the metadata says')
  }
  const time = buildEpoch.getTime()
  const built = time > 0 && time < Date.UTC(2100, 0) ? time : undefined
  return { path, bytes, reader, ipVersion, nodeCount, recordSize, dataStart, dataEnd, built }
}

function openReader(bytes: Buffer, path: string): Reader<CityResponse> {
  try {
    return new Reader<CityResponse>(bytes)
  } catch (error) {
    throw corrupt(path, error instanceof Error ? error.message : 'the metadata cannot be read')
  }
}

/** Returns the error that refuses a file, with the path in front of the reason. */
export function corrupt(path: string, reason: string): SallyportError {
  return new SallyportError('corrupt_data', `${path}: ${reason}`)
}

/** Returns the offset of the record that a node number above `nodeCount` means. It may be outside the file. */
export function recordOffset({ dataStart, nodeCount }: MmdbFile, node: number): number {
  return dataStart - SEPARATOR + node - nodeCount
}

/** A child is a node number below `nodeCount`, `nodeCount` for nothing, or a number above it for a record. */
export interface Children {
  left: number
  right: number
}

/** Returns a reader of nodes, which writes both of a node's records into one object that every call shares. */
export function nodeReader({ bytes, recordSize }: MmdbFile): (node: number, into: Children) => void {
  const byte = (at: number) => bytes[at] as number
  const three = (at: number) => (byte(at) << 16) | (byte(at + 1) << 8) | byte(at + 2)
  return (node, into) => {
    if (recordSize === 28) {
      const at = node * 7
      const shared = byte(at + 3)
      into.left = ((shared & 0xf0) << 20) | three(at)
      into.right = ((shared & 0x0f) << 24) | three(at + 4)
    } else if (recordSize === 24) {
      into.left = three(node * 6)
      into.right = three(node * 6 + 3)
    } else {
      into.left = three(node * 8) * 256 + byte(node * 8 + 3)
      into.right = three(node * 8 + 4) * 256 + byte(node * 8 + 7)
    }
  }
}
