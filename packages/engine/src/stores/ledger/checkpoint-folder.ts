import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { archiveName, type CheckpointArchive } from '@sallyport/ledger'
import { makeFolder, replaceFile } from '#files'

const SUFFIX = '.checkpoint'

/**
 * Keeps checkpoints as files, one a log, each the newest signed note as it is: outside the database on purpose, so that a database put back
 * from an old copy conflicts with what was signed since. A file is replaced whole or not at all.
 */
export function openCheckpointFolder(folder: string): CheckpointArchive {
  return {
    async list() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      const files = names.filter((name) => name.endsWith(SUFFIX)).sort()
      return Promise.all(files.map(async (name) => ({ name, note: await readFile(join(folder, name), 'utf8') })))
    },
    async write({ log, note }) {
      makeFolder(folder)
      await replaceFile(join(folder, `${archiveName(log)}${SUFFIX}`), note)
    },
  }
}
