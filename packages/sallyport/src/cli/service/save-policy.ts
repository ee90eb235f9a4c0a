import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'

/**
 * Writes another text into a configuration file and takes it over; if that fails the file is as it was. Rejects with
 * `edit_conflict` for a file that changes meanwhile, with `invalid_request` for one that cannot be written, and as `written` and
 * `takeOver` do.
 */
export async function savePolicy(
  file: string,
  written: (before: string) => Promise<string>,
  takeOver: () => Promise<void>,
): Promise<void> {
  const before = readFileSync(file, 'utf8')
  const next = await written(before)
  if (readFileSync(file, 'utf8') !== before) {
    throw new SallyportError('edit_conflict', 'The configuration file changed in the meantime: nothing was saved.')
  }
  replaceFile(file, next)
  try {
    await takeOver()
  } catch (error) {
    // Somebody may have written another one since.
    if (readFileSync(file, 'utf8') === next) replaceFile(file, before)
    throw error
  }
}

/** Whole or not at all, with the rights it has; of a link, what it leads to. */
function replaceFile(named: string, text: string): void {
  const file = realpathSync(named)
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, text, { mode: statSync(file).mode })
    renameSync(draft, file)
  } catch (error) {
    // The file of a container is often mounted: to be read alone, or alone in its folder.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unwritable'
    throw new SallyportError('invalid_request', `${named} cannot be written (${code}): nothing was saved.`)
  } finally {
    if (existsSync(draft)) rmSync(draft)
  }
}
