import { readFileSync, realpathSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import { replaceFile } from '@sallyport/engine/files'

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
  await replaceTarget(file, next)
  try {
    await takeOver()
  } catch (error) {
    // Another program may have written the file since.
    if (readFileSync(file, 'utf8') === next) await replaceTarget(file, before)
    throw error
  }
}

/** Replaces the file that a name leads to: a link stays. */
async function replaceTarget(named: string, text: string): Promise<void> {
  try {
    await replaceFile(realpathSync(named), text)
  } catch (error) {
    // The file of a container is often mounted read-only, or alone in its folder.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unwritable'
    throw new SallyportError('invalid_request', `Nothing was saved, because ${named} cannot be written (${code}).`)
  }
}
