import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, type Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { errorText, SallyportError } from '@sallyport/core'
import { replaceFile } from '#files'

const BLOCK = 512

/**
 * Unpacks a downloaded file in place, as its first bytes say: gzip, and in it or on its own a tar archive, of which the
 * first MaxMind database is taken. Anything else stays as it is. Throws `corrupt_data` for a broken archive, for one
 * without a database, and for one that unpacks to more than `maxBytes`.
 */
export async function unpack(path: string, maxBytes: number): Promise<void> {
  const start = await readBytes(path, 0, 2)
  if (start[0] === 0x1f && start[1] === 0x8b) {
    const unzipped = pipeline(createReadStream(path), createGunzip(), () => undefined)
    await replaceWith(path, limitBytes(unzipped, maxBytes))
  }
  if ((await readBytes(path, 257, 5)).toString('latin1') !== 'ustar') return
  const { from, size } = await findDatabase(path)
  if (size === 0) throw new SallyportError('corrupt_data', 'the archive contains no .mmdb file')
  const database = createReadStream(path, { start: from, end: from + size - 1 })
  await replaceWith(path, limitBytes(database, maxBytes))
}

async function replaceWith(path: string, contents: Readable): Promise<void> {
  try {
    await replaceFile(path, contents)
  } catch (error) {
    if (error instanceof SallyportError) throw error
    throw new SallyportError('corrupt_data', `the archive cannot be unpacked: ${errorText(error)}`)
  }
}

/** Passes on the bytes of a stream up to a bound, and fails beyond. The reader of the result gets every fault. */
export function limitBytes(source: Readable, maxBytes: number, onBytes: (bytes: number) => void = () => {}): Readable {
  let bytes = 0
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      onBytes(bytes)
      if (bytes > maxBytes) done(new SallyportError('corrupt_data', `the file is larger than ${maxBytes} bytes`))
      else done(null, chunk)
    },
  })
  return pipeline(source, limit, () => undefined)
}

/** Finds the offset and size of the first .mmdb file of a tar archive (POSIX ustar: 512-byte headers, contents padded to 512). */
async function findDatabase(path: string): Promise<{ readonly from: number; readonly size: number }> {
  for (let at = 0; ; ) {
    const header = await readBytes(path, at, BLOCK)
    const size = Number.parseInt(header.toString('latin1', 124, 136), 8)
    if (header.length < BLOCK || header[0] === 0 || !(size >= 0)) return { from: 0, size: 0 }
    const name = header.toString('utf8', 0, 100).replace(/\0.*$/s, '')
    if (name.endsWith('.mmdb')) return { from: at + BLOCK, size }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
}

async function readBytes(path: string, from: number, length: number): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
