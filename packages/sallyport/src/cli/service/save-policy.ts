import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'

/**
 * Writes another text into a configuration file and adopts it; restores the file where that fails. Rejects with `edit_conflict` for a file
 * that changes meanwhile, with `invalid_request` for a file that cannot be written, and as `written` and `takeOver` do.
 */
export async function savePolicy(
  file: string,
  written: (before: string) => Promise<string>,
  takeOver: () => Promise<void>,
): Promise<void> {
  const before = readFileSync(file, 'utf8')
  const next = await written(before)
  if (readFileSync(file, 'utf8') !== before) {
    throw new SallyportError('edit_conflict', 'Nothing was saved: the configuration file changed meanwhile.')
  }
  replaceFile(file, next)
  try {
    await takeOver()
  } catch (error) {
    // Another program may have written the file since.
    if (readFileSync(file, 'utf8') === next) replaceFile(file, before)
    throw error
  }
}

/** Replaces a file completely or not at all, and keeps its mode; follows a link. */
function replaceFile(named: string, text: string): void {
  const file = realpathSync(named)
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, text, { mode: statSync(file).mode })
    renameSync(draft, file)
  } catch (error) {
    // The file of a container is often mounted read-only, or alone in its folder.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unwritable'
    throw new SallyportError('invalid_request', `Nothing was saved, because ${named} cannot be written (${code}).`)
  } finally {
    if (existsSync(draft)) rmSync(draft)
  }
}
