import { accessSync, constants, statSync } from 'node:fs'
import { basename, relative, resolve, sep } from 'node:path'
import { SallyportError } from '@sallyport/core'
import { makeFolder, placeFault } from '#files'
import type { Settings } from '#settings'
import { withFreeLock, withLock } from '#stores/service'

type DataDirConfig = Pick<Settings, 'dataDir'> & { readonly data: Pick<Settings['data'], 'readOnly'> }

/** Of all processes on a dataDir, one compiles and one downloads. */
export const DATA_LOCK = { withLock, withFreeLock }

/** Runs `work` in the dataDir, which is created if absent. A fault of the dataDir, before the work or in it, is `data_dir_unusable`. */
export async function inDataDir<Result>(config: DataDirConfig, work: () => Promise<Result>): Promise<Result> {
  try {
    requireDataDir(config)
    return await work()
  } catch (error) {
    throw dataDirFault(error, config.dataDir)
  }
}

/** Reports whether an existing dataDir cannot be written. */
export function isReadOnly(dataDir: string): boolean {
  return may(dataDir, constants.F_OK) && statSync(dataDir).isDirectory() && !may(dataDir, constants.W_OK)
}

function requireDataDir({ dataDir, data }: DataDirConfig): void {
  const fault = placeFault(dataDir)
  if (fault !== undefined) throw unusable(dataDir, fault)
  const stats = may(dataDir, constants.F_OK) ? statSync(dataDir) : undefined
  if (stats === undefined && data.readOnly)
    throw unusable(dataDir, 'does not exist, and data.readOnly prevents its creation')
  if (stats === undefined) makeFolder(dataDir)
  else if (!stats.isDirectory()) throw unusable(dataDir, 'is not a folder')
  else if (!may(dataDir, constants.R_OK | constants.X_OK)) throw unusable(dataDir, `cannot be read: ${rights()}`)
  else if (!data.readOnly) accessSync(dataDir, constants.W_OK)
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

function unusable(dataDir: string, what: string): SallyportError {
  return new SallyportError('data_dir_unusable', `dataDir: ${resolve(dataDir)} ${what}`)
}

function rights(): string {
  const user = process.getuid?.()
  return user === undefined ? 'the permission is missing' : `user ${user} lacks the permission`
}

/** Explains an operating system's fault with a file to operators. */
const REASONS: Readonly<Record<string, () => string>> = {
  EACCES: () => `cannot be written: ${rights()}`,
  EPERM: () => `cannot be written: ${rights()}`,
  EROFS: () => 'cannot be written: its file system is read-only. Set data.readOnly: true to use prebuilt data',
  ENOSPC: () => 'cannot be written: the disk is full',
  EDQUOT: () => 'cannot be written: the quota of this user is used up',
  ENOTDIR: () => 'cannot be created: a part of its path is not a folder',
  EEXIST: () => 'is not a folder',
}

/** SQLite reports these faults by message; not every driver has codes for them. */
const DATABASE_REASONS: readonly (readonly [says: RegExp, reason: (database: string) => string])[] = [
  [/readonly database|unable to open database/, (database) => `has ${database} that cannot be written: ${rights()}`],
  [/database or disk is full|disk I\/O error/, () => 'cannot be written: the disk is full or failing'],
  [
    /not a database|malformed/,
    (database) => `contains ${database} that is corrupt. Restore it from a backup, or move it away to create a new one`,
  ],
]

function dataDirFault(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error) || error instanceof SallyportError) return error
  const { code, path } = error as NodeJS.ErrnoException
  const reason = code === undefined ? undefined : REASONS[code]
  if (reason !== undefined && (path === undefined || isAbout(path, dataDir))) return unusable(dataDir, reason())
  const database = DATABASE_REASONS.find(([says]) => says.test(error.message))
  // The error of a statement, long after the opening, names no file.
  const file = path === undefined ? 'a database' : `a database (${basename(path)})`
  return database === undefined ? error : unusable(dataDir, database[1](file))
}

function isAbout(path: string, dataDir: string): boolean {
  const isIn = (folder: string, inner: string): boolean => relative(folder, inner).split(sep, 1)[0] !== '..'
  return isIn(dataDir, path) || isIn(path, dataDir)
}
