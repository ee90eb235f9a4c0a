import { readFileSync, statSync } from 'node:fs'
import { placeFault } from './place.ts'
import { fileReason } from './system-fault.ts'

/**
 * The text of a file. Throws an error that says in a few words what is wrong: a pipe or a device would be read for ever, and
 * the process would stand still.
 */
export function readWhole(file: string): string {
  return readBytes(file).toString('utf8')
}

/** The same of a text that people write: in another encoding it is refused, in which it would be read as something else. */
export function readText(file: string): string {
  return decodeText(readBytes(file))
}

/** The text of bytes in UTF-8. Throws an error in words that follow a file's name: editors of Windows write UTF-16. */
export function decodeText(bytes: Buffer): string {
  const [first, second] = bytes
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (isWide) throw new Error('is encoded in UTF-16. Save it as UTF-8')
  if (bytes.includes(0)) throw new Error('contains zero bytes, so it is not UTF-8 text')
  return bytes.toString('utf8')
}

function readBytes(file: string): Buffer {
  const fault = readFault(file)
  if (fault !== undefined) throw new Error(fault)
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(fileReason(error))
  }
}

/**
 * The fault of what would be read for ever, in words that follow its path; `undefined` for files, and where nothing is. The
 * kernel's own count, although they say that they are files: a reader of `/proc/kmsg` waits for the next message.
 */
export function readFault(file: string): string | undefined {
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    if (stats.isDirectory()) return 'is a folder'
    return stats.isFile() ? placeFault(file) : 'is not a regular file'
  } catch {
    // The reader says why it cannot be read.
    return undefined
  }
}
