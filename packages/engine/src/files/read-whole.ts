import { readFileSync, statSync } from 'node:fs'
import { placeFault } from './place.ts'

/**
 * The text of a file. Throws an error that says in a few words what is wrong: a pipe or a device would be read for ever, and
 * the process would stand still.
 */
export function readWhole(file: string): string {
  const fault = readFault(file)
  if (fault !== undefined) throw new Error(fault)
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new Error(code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be read (${code})`)
  }
}

/**
 * The fault of what would be read for ever, in words that follow its path; `undefined` for files, and where nothing is. The
 * kernel's own count, although they say that they are files: a reader of `/proc/kmsg` waits for the next message. D375.
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
