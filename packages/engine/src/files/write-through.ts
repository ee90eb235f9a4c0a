import { createWriteStream, type WriteStream } from 'node:fs'
import { OWN_FILE } from './make-folder.ts'

/**
 * Writes a file through a stream, to the disk. It is closed in the end, also where `write` rejects: a stream that is still opening its
 * file makes it after the caller has removed it.
 */
export async function writeThrough(path: string, write: (to: WriteStream) => Promise<void>): Promise<void> {
  const to = createWriteStream(path, { flush: true, mode: OWN_FILE })
  try {
    await write(to)
  } catch (error) {
    to.destroy()
    throw error
  } finally {
    if (!to.closed) await new Promise<void>((resolve) => to.once('close', resolve))
  }
}
