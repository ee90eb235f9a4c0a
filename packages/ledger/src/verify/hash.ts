import { hash } from 'node:crypto'

/** SHA-256 of bytes, or of a text in UTF-8. */
export function sha256(input: Uint8Array | string): Buffer {
  return hash('sha256', input, 'buffer')
}

/** SHA-256 in lower-case hexadecimal. */
export function sha256Hex(input: Uint8Array | string): string {
  return hash('sha256', input, 'hex')
}

/** The hash of a record: link of the chain and leaf of the tree at once (RFC 6962 2.1). */
export function leafHash(record: Uint8Array): Buffer {
  const input = Buffer.allocUnsafe(record.length + 1)
  input[0] = 0
  input.set(record, 1)
  return sha256(input)
}

/** The hash of an inner node of the tree (RFC 6962 2.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  const input = Buffer.allocUnsafe(65)
  input[0] = 1
  input.set(left, 1)
  input.set(right, 33)
  return sha256(input)
}

/** What stands for `prev` in the first record of a log, in hexadecimal: it binds the chain to its name. */
export function genesisLink(log: string): string {
  return sha256Hex(`sallyport ledger\n${log}\n`)
}
