import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** A file in memory that can be released at once, without waiting for the garbage collector. */
export interface ReleasableFile {
  readonly bytes: Buffer
  /** Frees the memory; `bytes` is empty afterwards. */
  release(): void
}

/** Node 20 has buffers that can be resized; the types of our language level do not say so. */
type Resizable = ArrayBuffer & { resize(size: number): void }

/** Reads a whole file. Throws as `readFileSync` does. */
export function readReleasable(path: string): ReleasableFile {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const memory = Reflect.construct(ArrayBuffer, [size, { maxByteLength: size }]) as Resizable
    const bytes = Buffer.from(memory, 0, size)
    let end = 0
    for (let read = -1; read !== 0 && end < size; end += read) read = readSync(file, bytes, end, size - end, end)
    return { bytes: bytes.subarray(0, end), release: () => memory.resize(0) }
  } finally {
    closeSync(file)
  }
}
