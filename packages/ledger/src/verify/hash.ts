import { hash } from 'node:crypto'

/** Returns the SHA-256 of bytes, or of a text in UTF-8. */
export function sha256(input: Uint8Array | string): Buffer {
  return hash('sha256', input, 'buffer')
}

/** Returns the SHA-256 in lower-case hexadecimal. */
export function sha256Hex(input: Uint8Array | string): string {
  return hash('sha256', input, 'hex')
}

/** Hashes a record, as bytes or as text: the hash links the chain and is a leaf of the tree (RFC 6962 2.1). */
export function leafHash(record: Uint8Array | string): Buffer {
  return typeof record === 'string' ? sha256(`\0${record}`) : sha256(Buffer.concat([LEAF_PREFIX, record]))
}

/** Returns the hash of an inner node of the tree (RFC 6962 2.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.concat([NODE_PREFIX, left, right]))
}

/** Returns the salted hash of an address or a context, in hexadecimal. */
export function commitment(salt: Uint8Array, text: string): string {
  return sha256Hex(Buffer.concat([salt, Buffer.from(text)]))
}

/** Returns the `prev` of the first record of a log, in hexadecimal: it binds the chain to the log's name. */
export function genesisLink(log: string): string {
  return sha256Hex(`sallyport ledger\n${log}\n`)
}

const LEAF_PREFIX = Uint8Array.of(0)
const NODE_PREFIX = Uint8Array.of(1)
