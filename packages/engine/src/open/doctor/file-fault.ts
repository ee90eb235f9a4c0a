import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { linkFault, nearest, placeFault } from '#files'
import { type CheckResult, fail, failNow } from './finding.ts'

/** Whether a file can be written to, or made; one that is not there yet is not made. */
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
    return []
  } catch {
    const advice = 'Give it to the user who runs Sallyport, or name another file.'
    return [failNow(`${there} cannot be written by this user.`, advice, path)]
  }
}
