import { readFileSync, statSync } from 'node:fs'

/**
 * The text of a file. Throws an error that says in a few words what is wrong: a pipe or a device would be read for ever, and
 * the process would stand still.
 */
export function readWhole(file: string): string {
  if (!isRegular(file)) throw new Error('is not a regular file')
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`cannot be read (${codeOf(error)})`)
  }
}

function isRegular(file: string): boolean {
  try {
    return statSync(file).isFile()
  } catch (error) {
    const code = codeOf(error)
    throw new Error(code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be read (${code})`)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
}
