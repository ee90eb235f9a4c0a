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

/**
 * The same for many records one after the other, in hexadecimal: with one piece of memory for all, and no object for a
 * result, it takes half as long.
 */
export function createLeafHasher(): (record: Uint8Array) => string {
  let input = Buffer.alloc(1024)
  return (record) => {
    if (record.length >= input.length) input = Buffer.alloc(2 * record.length)
    input.set(record, 1)
    return sha256Hex(input.subarray(0, record.length + 1))
  }
}

/** The hash of an inner node of the tree (RFC 6962 2.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  const input = Buffer.allocUnsafe(65)
  input[0] = 1
  input.set(left, 1)
  input.set(right, 33)
  return sha256(input)
}

/** The same in hexadecimal, for many nodes one after the other. */
export function createNodeHasher(): (left: string, right: string) => string {
  const input = Buffer.alloc(65, 1)
  return (left, right) => {
    input.write(left, 1, 'hex')
    input.write(right, 33, 'hex')
    return sha256Hex(input)
  }
}

/** What stands for `prev` in the first record of a log, in hexadecimal: it binds the chain to its name. */
export function genesisLink(log: string): string {
  return sha256Hex(`sallyport ledger\n${log}\n`)
}
