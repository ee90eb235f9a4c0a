import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { nearest, type WriteFault, writeFault } from '#files'
import { type CheckResult, fail, failNow, warn } from '#service'

/** The fault of a file that is a regular one, or is made: databases are. */
export function regularFault(named: string, path: readonly string[]): readonly CheckResult[] {
  const file = resolve(named)
  const stats = statSync(nearest(file))
  const isOther = existsSync(file) && !stats.isFile() && !stats.isDirectory()
  // One that only is opened may be waited for without end.
  return isOther ? [fail(`${file} is not a regular file.`, 'Use a file on a disk.', path)] : fileFault(named, path)
}

/** Whether a file can be written to, or made; one that is not there yet is not made. It may be a device or a pipe. */
export function fileFault(named: string, path: readonly string[]): readonly CheckResult[] {
  const fault = writeFault(named)
  if (fault !== undefined) {
    const { found, kind } = fault
    return [(kind === 'closed' || kind === 'rights' ? failNow : fail)(`${found}.`, ADVICE[kind](path), path)]
  }
  const file = resolve(named)
  if (!existsSync(file) || !statSync(file).isFIFO()) return []
  return [warn(`${file} is a pipe.`, 'Start the reader of the pipe before Sallyport.', path)]
}

const ADVICE: Readonly<Record<WriteFault['kind'], (path: readonly string[]) => string>> = {
  place: (path) => `Set ${path.join('.')} to a file on a disk.`,
  folder: () => 'Use a file in that directory.',
  socket: () => 'Use a file.',
  above: () => 'Use a file in a directory.',
  closed: () => 'Give the user who runs Sallyport access (chmod +x), or use another file.',
  rights: () => 'Make the user who runs Sallyport its owner, or use another file.',
}
