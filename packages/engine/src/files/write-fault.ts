import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { closedFault, linkFault, nearest, placeFault } from './place.ts'
import { fileReason } from './system-fault.ts'

/** A reason for which a file cannot be written or made. */
export interface WriteFault {
  /** Gives the reason as a sentence without its full stop. */
  readonly found: string
  /** What is at fault: the place, the file, a folder above it, or missing rights, which another user may have. */
  readonly kind: 'place' | 'folder' | 'socket' | 'above' | 'closed' | 'rights'
}

/** Returns why a file cannot be written; it does not create the file. The file may be a device or a pipe. */
export function writeFault(named: string): WriteFault | undefined {
  const file = resolve(named)
  const place = placeFault(file) ?? linkFault(dirname(file))
  if (place !== undefined) return { found: `${file} ${place}`, kind: 'place' }
  const there = nearest(existsSync(file) ? file : dirname(file))
  const stats = statSync(there)
  if (named.endsWith('/') || (there === file && stats.isDirectory())) {
    return { found: `${named} is a folder`, kind: 'folder' }
  }
  if (stats.isSocket()) return { found: `${file} is a socket`, kind: 'socket' }
  if (there !== file && !stats.isDirectory()) return { found: `${there} is not a folder`, kind: 'above' }
  const closed = closedFault(file)
  if (closed !== undefined) return { found: closed, kind: 'closed' }
  try {
    accessSync(there, constants.W_OK)
    return undefined
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS'
    return { found: `${there} ${isReadOnly ? fileReason(error) : 'cannot be written by this user'}`, kind: 'rights' }
  }
}
