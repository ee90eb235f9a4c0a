import { readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'

/** Writes another text into a configuration file and takes it over; where that fails the file is as it was. */
export async function savePolicy(
  file: string,
  written: (before: string) => Promise<string>,
  takeOver: () => Promise<void>,
): Promise<void> {
  const before = readFileSync(file, 'utf8')
  const next = await written(before)
  if (readFileSync(file, 'utf8') !== before) {
    throw new SallyportError('invalid_request', 'The configuration file changed in the meantime: nothing was saved.')
  }
  replaceFile(file, next)
  try {
    await takeOver()
  } catch (error) {
    replaceFile(file, before)
    throw error
  }
}

/** Whole or not at all, with the rights it has; of a link, what it leads to. */
function replaceFile(named: string, text: string): void {
  const file = realpathSync(named)
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, text, { mode: statSync(file).mode })
  renameSync(draft, file)
}
