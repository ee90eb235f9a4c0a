import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { SallyportError } from '@sallyport/core/host'
import { nearest, placeFault } from './place.ts'

/** The rights on what is made: of the user of this process alone, whatever the umask gives others. */
export const OWN_FOLDER = 0o700
export const OWN_FILE = 0o600

/**
 * Makes a folder, and those above it; one that is there stays as it is. Throws `data_dir_unusable` where files of ours have
 * no place, and the system's own error. Node's way of making them all never returns where the system makes none.
 */
export function makeFolder(path: string, mode: number = OWN_FOLDER): void {
  const folder = resolve(path)
  const there = nearest(folder)
  if (there === folder && statSync(folder).isDirectory()) return
  const fault = placeFault(folder)
  if (fault !== undefined) throw new SallyportError('data_dir_unusable', `${folder} ${fault}`)
  for (const next of between(there, folder)) makeOne(next, mode)
}

/** The folders below `there` down to `folder`; that one alone where it is there already, as what is not a folder. */
function between(there: string, folder: string): readonly string[] {
  const above = dirname(folder)
  return above === there || folder === there ? [folder] : [...between(there, above), folder]
}

/** Another process may make it at the same time. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
