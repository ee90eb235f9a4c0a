import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { linkFault, nearest, placeFault } from '#files'
import { type CheckResult, fail, failNow, warn } from './finding.ts'

/** The fault of a file that is a regular one, or is made: databases are. */
export function regularFault(named: string, path: readonly string[]): readonly CheckResult[] {
  const file = resolve(named)
  const stats = statSync(nearest(file))
  const isOther = existsSync(file) && !stats.isFile() && !stats.isDirectory()
  // One that only is opened may be waited for without end.
  return isOther ? [fail(`${file} is not a regular file.`, 'Name a file on a disk.', path)] : fileFault(named, path)
}

/** Whether a file can be written to, or made; one that is not there yet is not made. It may be a device or a pipe. */
export function fileFault(named: string, path: readonly string[]): readonly CheckResult[] {
  const file = resolve(named)
  const place = placeFault(file) ?? linkFault(dirname(file))
  if (place !== undefined) return [fail(`${file} ${place}.`, `Name a file on a disk: ${path.join('.')}.`, path)]
  const there = nearest(existsSync(file) ? file : dirname(file))
  const stats = statSync(there)
  if (named.endsWith('/') || (there === file && stats.isDirectory())) {
    return [fail(`${named} is a folder.`, 'Name a file in it.', path)]
  }
  if (stats.isSocket()) return [fail(`${file} is a socket.`, 'Name a file.', path)]
  if (there !== file && !stats.isDirectory()) {
    return [fail(`${there} is not a folder.`, 'Name a file in a folder.', path)]
  }
  try {
    accessSync(there, constants.W_OK)
    if (!stats.isFIFO()) return []
    return [warn(`${file} is a pipe.`, 'Start what reads it before Sallyport.', path)]
  } catch {
    const advice = 'Give it to the user who runs Sallyport, or name another file.'
    return [failNow(`${there} cannot be written by this user.`, advice, path)]
  }
}
