import { mkdir, rmdir, stat, utimes } from 'node:fs/promises'
import { errorCode } from '@sallyport/core'

export interface Lock {
  /** Reports whether the lock was free, and is held from now on. */
  take(): Promise<boolean>
  release(): Promise<void>
}

/** How often a holder renews its folder, and when a folder is one of a process that died. */
const RENEW_MS = 1_000
export const DEAD_AFTER_MS = 15_000

/**
 * A lock for a machine without SQLite: making a folder succeeds for one process alone. Two that take over the lock of a dead
 * holder at the same instant may both hold it, so the lock is for work that may be done twice, as compiling and downloading.
 */
export function createFolderLock(path: string): Lock {
  const folder = `${path}.held`
  let renewing: NodeJS.Timeout | undefined
  const renew = (): void => {
    const now = new Date()
    utimes(folder, now, now).catch(() => undefined)
  }
  return {
    async take() {
      const held = await stat(folder).catch(() => undefined)
      if (held !== undefined && Date.now() - held.mtimeMs > DEAD_AFTER_MS) await rmdir(folder).catch(() => undefined)
      try {
        await mkdir(folder)
      } catch (error) {
        if (errorCode(error) === 'EEXIST') return false
        throw error
      }
      renewing = setInterval(renew, RENEW_MS).unref()
      return true
    },
    async release() {
      if (renewing === undefined) return
      clearInterval(renewing)
      await rmdir(folder).catch(() => undefined)
    },
  }
}
