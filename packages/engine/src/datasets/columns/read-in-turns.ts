import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { SallyportError } from '@sallyport/core'
import { CHECKSUM_AT, CHECKSUM_BYTES, DESCRIPTION_AT } from './column-file.ts'
import { describeFault } from './decode.ts'

/** Hashing a piece takes a millisecond or two. */
const PIECE_BYTES = 1024 * 1024

/**
 * Reads a column file of any size into shared memory and checks its checksum, a piece at a time: requests get their turn between two
 * pieces. Rejects with `corrupt_data` naming the file, and with `missing_data` when it does not exist.
 */
export async function readInTurns(path: string): Promise<SharedArrayBuffer> {
  try {
    const file = await open(path, 'r')
    try {
      const shared = new SharedArrayBuffer((await file.stat()).size)
      const bytes = Buffer.from(shared)
      const hash = createHash('sha256')
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await file.read(bytes, at, Math.min(PIECE_BYTES, bytes.length - at), at)
        // The file has become shorter: the checksum will not fit.
        if (bytesRead === 0) break
        const end = at + bytesRead
        // The checksum excludes the digest itself.
        hash
          .update(bytes.subarray(at, Math.min(end, CHECKSUM_AT)))
          .update(bytes.subarray(Math.max(at, DESCRIPTION_AT), end))
        at = end
      }
      const isWhole = hash.digest().equals(bytes.subarray(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES))
      if (!isWhole) throw new SallyportError('corrupt_data', `${path}: its contents do not match its checksum`)
      return shared
    } finally {
      await file.close()
    }
  } catch (error) {
    throw error instanceof SallyportError ? error : describeFault(path, error)
  }
}
