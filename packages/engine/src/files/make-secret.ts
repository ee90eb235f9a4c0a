import { randomUUID } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OWN_FILE } from './make-folder.ts'

/**
 * Makes a file that only its owner reads: whole, on the disk, and never over one that is there, because other processes read it at
 * the same time. Returns false where one is. A disk that is full leaves nothing of it. Throws the system's own error.
 */
export function makeSecret(file: string, content: string | Uint8Array): boolean {
  const draft = join(dirname(file), `.${basename(file)}-${randomUUID()}`)
  try {
    writeFileSync(draft, content, { mode: OWN_FILE, flag: 'wx', flush: true })
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(draft, { force: true })
  }
}
