import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The kernel has its own files below these folders. */
const OF_THE_KERNEL = /^\/(?:proc|sys)(?:\/|$)/

/**
 * Returns why files and folders of ours cannot be placed at a path, in words that follow the path; `undefined` if they can. The target of a
 * link counts: `/proc/self/fd/1` is a place to write to.
 */
export function placeFault(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  const full = resolve(path)
  const there = nearest(full)
  const real = resolvePath(there)
  if (OF_THE_KERNEL.test(real)) return 'is in a file system of the kernel'
  return there !== full && /^\/dev(?:\/pts)?$/.test(real) ? 'is in /dev, which is for devices' : undefined
}

/** Returns why a folder cannot be made, being a dangling link or below one, in words that follow its path. */
export function linkFault(folder: string): string | undefined {
  let path = resolve(folder)
  while (!existsSync(path)) {
    const code = isLink(path) ? codeAt(path) : undefined
    if (code !== undefined && code !== 'EACCES')
      return code === 'ELOOP' ? 'leads through a circular link' : 'leads through a broken link'
    path = dirname(path)
  }
  return undefined
}

/** Names a folder that keeps this user from seeing whether a path exists, as a sentence without its full stop. */
export function closedFault(path: string): string | undefined {
  let below = resolve(path)
  if (existsSync(below)) return undefined
  while (!existsSync(dirname(below))) below = dirname(below)
  if (codeAt(below) !== 'EACCES') return undefined
  return isLink(below)
    ? `${below} leads into a folder that this user cannot access`
    : `${dirname(below)} cannot be accessed by this user`
}

/** Below a file or a closed folder nothing can be read: the entry above it gives the reason. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

function codeAt(path: string): string | undefined {
  try {
    statSync(path)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

/** Returns the path itself, or the nearest folder above it that exists. */
export function nearest(path: string): string {
  let above = resolve(path)
  while (!existsSync(above)) above = dirname(above)
  return above
}

/** Returns the path that links lead to; '' for an open pipe of a process, which has none. */
function resolvePath(path: string): string {
  try {
    const real = realpathSync(path)
    return existsSync(real) ? real : ''
  } catch {
    return ''
  }
}
