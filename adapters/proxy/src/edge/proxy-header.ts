import { isIP } from 'node:net'
import { formatAddress, parseAddress } from '@sallyport/core'
import type { Read, Reader } from './first-bytes.ts'
import type { Peer } from './peer.ts'

/** The PROXY protocol has two versions. */
export type ProxyVersion = 'v1' | 'v2'

/** Reads the header before a client's bytes (PROXY protocol 2.1, 2.2); an optional header would let clients choose their address. */
export function proxyHeaderReader(version: ProxyVersion): Reader<Peer> {
  return version === 'v1' ? readV1 : readV2
}

const V1_START = Buffer.from('PROXY ')
/** Limits a line with its end, in bytes: no valid line is longer. */
const V1_MAX = 107

function readV1(bytes: Buffer): Read<Peer> | number {
  requireStart(bytes, V1_START)
  const line = bytes.subarray(0, V1_MAX)
  const end = line.indexOf('\r\n')
  if (end < 0) {
    if (line.length === V1_MAX) throw new Error('a PROXY header without an end')
    return line.length + 1
  }
  const used = end + 2
  const [, family = '', ...rest] = line.toString('latin1', 0, end).split(' ')
  if (family === 'UNKNOWN') return { value: 'unknown', used }
  const [source = '', destination = '', ...ports] = rest
  const expected = family === 'TCP4' ? 4 : family === 'TCP6' ? 6 : undefined
  if (expected === undefined || isIP(source) !== expected || isIP(destination) !== expected || ports.length !== 2) {
    throw new Error('an invalid PROXY header')
  }
  return { value: readPeer(source, parsePorts(ports)), used }
}

/** Returns the first port, the source's, of ports that are all valid. */
function parsePorts(texts: readonly string[]): number {
  if (!texts.every((text) => /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535)) {
    throw new Error('a PROXY header with a wrong port')
  }
  return Number(texts[0])
}

const V2_START = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const V2_HEADER = 16
/** Limits addresses and all else in a header, in bytes; load balancers send a few hundred. */
const V2_MAX = 4_096
const LOCAL = 0x20
const PROXY = 0x21
/** Names no family that the protocol knows. */
const UNSPECIFIED = 0x00
/** A stream over a Unix socket has paths and no addresses. */
const UNIX = 0x31
/** Counts the bytes of an address, by family and protocol; only TCP is known. */
const V2_FAMILIES: ReadonlyMap<number, number> = new Map([
  [0x11, 4],
  [0x21, 16],
])

function readV2(bytes: Buffer): Read<Peer> | number {
  requireStart(bytes, V2_START)
  // A wrong byte is refused as soon as it comes.
  if (bytes.length < V2_START.length) return bytes.length + 1
  if (bytes.length < V2_HEADER) return V2_HEADER
  const command = bytes[12]
  const length = bytes.readUInt16BE(14)
  if ((command !== LOCAL && command !== PROXY) || length > V2_MAX) throw new Error('an invalid PROXY header')
  const used = V2_HEADER + length
  if (bytes.length < used) return used
  const family = bytes[13] as number
  if (command === LOCAL || family === UNSPECIFIED || family === UNIX) return { value: 'unknown', used }
  const size = V2_FAMILIES.get(family)
  if (size === undefined || length < 2 * size + 4) throw new Error('a PROXY header of no TCP connection')
  const address = bytes.subarray(V2_HEADER, V2_HEADER + size)
  const port = bytes.readUInt16BE(V2_HEADER + 2 * size)
  return { value: readPeer(size === 4 ? address.join('.') : hextets(address), port), used }
}

/** Throws where the available bytes do not begin with `start`. */
function requireStart(bytes: Buffer, start: Buffer): void {
  const length = Math.min(bytes.length, start.length)
  if (bytes.compare(start, 0, length, 0, length) !== 0) throw new Error('no PROXY header')
}

function hextets(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16)).join(':')
}

function readPeer(text: string, port: number): Peer {
  const address = parseAddress(text)
  if (address === undefined) throw new Error('a PROXY header with a wrong address')
  return { address: formatAddress(address), port }
}
