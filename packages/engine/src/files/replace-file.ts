import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { OWN_FILE } from './make-folder.ts'

/**
 * Replaces a file whole or not at all, and keeps its permissions. Resolves when the new file would survive a power cut. Where it rejects, it
 * destroys a stream of contents, so that neither a descriptor nor a socket stays open.
 */
export async function replaceFile(
  path: string,
  contents: string | Uint8Array | Iterable<string> | AsyncIterable<Uint8Array>,
  mode: number = statSync(path, { throwIfNoEntry: false })?.mode ?? OWN_FILE,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(temporary, 'w', mode)
    try {
      await writeFile(file, contents)
      await file.sync()
    } finally {
      await file.close()
    }
    await moveInto(temporary, path)
  } catch (error) {
    if (contents instanceof Readable) contents.destroy()
    await rm(temporary, { force: true })
    throw error
  }
}

/** Renames a file that is on the disk already, within one folder, and makes the new name durable. */
export async function moveInto(from: string, to: string): Promise<void> {
  await rename(from, to)
  const folder = await open(dirname(to), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
