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

/** One record after the other in one piece of memory, which costs less than a piece for each. */
export interface LeafMemory {
  /** Of the record that was put in last. */
  length: number
  /** That record, and what earlier ones have left behind its end. */
  view: DataView
  put(record: Uint8Array): void
  /** Its hash, in hexadecimal: a text costs half of what an array of bytes does. */
  hash(): string
}

export function createLeafMemory(): LeafMemory {
  // Before the record stands the byte that its hash begins with.
  let memory = new Uint8Array(1024)
  let input = memory
  const leaf: LeafMemory = {
    length: 0,
    view: new DataView(memory.buffer, 1),
    put(record) {
      if (record.length >= memory.length) {
        memory = new Uint8Array(2 * record.length)
        leaf.view = new DataView(memory.buffer, 1)
        input = memory
      }
      memory.set(record, 1)
      leaf.length = record.length
      // Neighbours mostly are of one length.
      if (input.length !== record.length + 1) input = memory.subarray(0, record.length + 1)
    },
    hash: () => sha256Hex(input),
  }
  return leaf
}

/** The hash of an inner node of the tree (RFC 6962 2.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  const input = Buffer.allocUnsafe(65)
  input[0] = 1
  input.set(left, 1)
  input.set(right, 33)
  return sha256(input)
}

/** Puts in the place of two hashes that lie side by side, from `at` on, that of the node over them. */
export type NodeHasher = (hashes: Uint8Array, at: number) => void

export function createNodeHasher(): NodeHasher {
  const input = new Uint8Array(65).fill(1)
  return (hashes, at) => {
    // Byte by byte, because so few are moved sooner than a native function is called.
    for (let index = 0; index < 64; index++) input[1 + index] = hashes[at + index] as number
    const node = hash('sha256', input, 'binary')
    for (let index = 0; index < 32; index++) hashes[at + index] = node.charCodeAt(index)
  }
}

/** The salted hash of an address or a context, hexadecimal. */
export function commitment(salt: Uint8Array, text: string): string {
  return sha256Hex(Buffer.concat([salt, Buffer.from(text)]))
}

/** The same for many, one after the other. */
export function createCommitter(): typeof commitment {
  let memory = Buffer.alloc(256)
  const inputs: Uint8Array[] = []
  return (salt, text) => {
    // A character is at most three bytes.
    const most = salt.length + 3 * text.length
    if (most > memory.length) {
      memory = Buffer.alloc(2 * most)
      inputs.length = 0
    }
    memory.set(salt)
    const length = salt.length + memory.write(text, salt.length)
    const input = inputs[length] ?? memory.subarray(0, length)
    inputs[length] = input
    return sha256Hex(input)
  }
}

/** What stands for `prev` in the first record of a log, in hexadecimal: it binds the chain to its name. */
export function genesisLink(log: string): string {
  return sha256Hex(`sallyport ledger\n${log}\n`)
}
