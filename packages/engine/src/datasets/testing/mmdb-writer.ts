import { parsePrefix } from '@sallyport/core'

/** A value that a database record can hold here; numbers that are no whole positive ones become doubles. */
export type MmdbValue = string | number | boolean | readonly MmdbValue[] | { readonly [key: string]: MmdbValue }

export interface MmdbForm {
  readonly ipVersion: 4 | 6
  readonly recordSize?: 24 | 28 | 32 | undefined
  /** The time is in seconds since the epoch. */
  readonly built?: number | undefined
  readonly type?: string | undefined
}

interface Node {
  left: Node | number | undefined
  right: Node | number | undefined
}

/** Writes a small MaxMind DB: networks in CIDR notation with their records. A later network wins over an earlier one. */
export function writeMmdb(networks: Readonly<Record<string, MmdbValue>>, form: MmdbForm): Buffer {
  const { ipVersion, recordSize = 24, built = 1_780_000_000, type = 'Test-City' } = form
  const root: Node = { left: undefined, right: undefined }
  const records: Buffer[] = []
  const offsets = new Map<string, number>()
  let dataLength = 0
  const writeValue = (value: MmdbValue): number => {
    const key = JSON.stringify(value)
    const known = offsets.get(key)
    if (known !== undefined) return known
    const record = encode(value)
    offsets.set(key, dataLength)
    records.push(record)
    dataLength += record.length
    return dataLength - record.length
  }
  for (const [cidr, value] of Object.entries(networks)) insert(root, listBits(cidr, ipVersion), writeValue(value))

  const nodes: Node[] = []
  const numbers = new Map<Node, number>()
  const visit = (node: Node): void => {
    numbers.set(node, nodes.length)
    nodes.push(node)
    for (const child of [node.left, node.right]) if (typeof child === 'object') visit(child)
  }
  visit(root)
  const nodeNumber = (child: Node | number | undefined): number => {
    if (child === undefined) return nodes.length
    return typeof child === 'number' ? nodes.length + 16 + child : (numbers.get(child) as number)
  }
  const tree = Buffer.concat(
    nodes.map(({ left, right }) => encodeNode(nodeNumber(left), nodeNumber(right), recordSize)),
  )
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: built,
    database_type: type,
    description: { en: 'made by a test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: recordSize,
  })
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), ...records, marker, metadata])
}

function listBits(cidr: string, ipVersion: 4 | 6): readonly number[] {
  const prefix = parsePrefix(cidr)
  if (prefix === undefined) throw new Error(`not a CIDR: ${cidr}`)
  const { address, length } = prefix
  const all = [address.a, address.b, address.c, address.d].flatMap((word) =>
    Array.from({ length: 32 }, (_, index) => (word >>> (31 - index)) & 1),
  )
  // IPv4 in an IPv6 tree lies under ::/96.
  if (ipVersion === 6) return all.slice(0, address.family === 4 ? 96 + length : length)
  return all.slice(96, 96 + length)
}

function insert(root: Node, bits: readonly number[], offset: number): void {
  let node = root
  for (const [index, bit] of bits.entries()) {
    const side = bit === 1 ? 'right' : 'left'
    if (index === bits.length - 1) {
      node[side] = offset
      return
    }
    const child = node[side]
    // A record that is in the way is pushed down to both halves.
    const next = typeof child === 'object' ? child : { left: child, right: child }
    node[side] = next
    node = next
  }
}

function encodeNode(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const bytes = Buffer.alloc(recordSize / 4)
  if (recordSize === 28) {
    bytes.writeUIntBE(left & 0xffffff, 0, 3)
    bytes[3] = ((left >>> 24) << 4) | (right >>> 24)
    bytes.writeUIntBE(right & 0xffffff, 4, 3)
  } else {
    bytes.writeUIntBE(left, 0, recordSize / 8)
    bytes.writeUIntBE(right, recordSize / 8, recordSize / 8)
  }
  return bytes
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    return Buffer.concat([head(2, bytes.length), bytes])
  }
  if (typeof value === 'boolean') return head(14, value ? 1 : 0)
  if (typeof value === 'number') return encodeNumber(value)
  if (Array.isArray(value)) return Buffer.concat([head(11, value.length), ...value.map(encode)])
  const entries = Object.entries(value)
  return Buffer.concat([head(7, entries.length), ...entries.flatMap(([key, item]) => [encode(key), encode(item)])])
}

function encodeNumber(value: number): Buffer {
  if (Number.isInteger(value) && value >= 0) {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([head(6, 4), bytes])
  }
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return Buffer.concat([head(3, 8), bytes])
}

function head(type: number, size: number): Buffer {
  const extra = size < 29 ? [] : size < 285 ? [size - 29] : [(size - 285) >>> 8, (size - 285) & 255]
  const short = size < 29 ? size : size < 285 ? 29 : 30
  return Buffer.from([...(type < 8 ? [(type << 5) | short] : [short, type - 7]), ...extra])
}
