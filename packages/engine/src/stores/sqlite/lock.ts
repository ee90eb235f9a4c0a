import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeFolder } from '#files'
import { connect, findMissingSqlite, isBusy } from './driver.ts'
import { createFolderLock, type Lock } from './folder-lock.ts'

export interface LockOptions {
  /** Called once, when another process has the lock and this one starts to wait. */
  readonly onWait?: (() => void) | undefined
  /** Ends the waiting: `withLock` then rejects with the signal's reason. A running task is not aborted. */
  readonly signal?: AbortSignal | undefined
}

/** How often a waiting process tries again. */
const RETRY_MS = 50

/**
 * Runs `task` while no other holder of the lock `path` runs, in this process or any other on the machine, and returns its result. The lock
 * is SQLite's own lock on a small file: the operating system takes it back from a process that dies, however it dies. Without SQLite it is
 * a folder that its holder renews. Waits without blocking the event loop, and without a deadline: a holder that lives is at work. The file
 * stays; removing it could split the lock.
 */
export function withLock<T>(path: string, task: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  return withOpened(path, async (lock) => {
    options.signal?.throwIfAborted()
    if (!(await lock.take())) {
      options.onWait?.()
      do {
        await delay(RETRY_MS)
        options.signal?.throwIfAborted()
      } while (!(await lock.take()))
    }
    return task()
  })
}

/** Runs `task` as `withLock` does, but without waiting: returns `undefined` while another holder runs. */
export function withFreeLock<T>(path: string, task: () => Promise<T>): Promise<T | undefined> {
  return withOpened(path, async (lock) => ((await lock.take()) ? task() : undefined))
}

async function withOpened<T>(path: string, work: (lock: Lock) => Promise<T>): Promise<T> {
  makeFolder(dirname(path))
  const lock = (await findMissingSqlite()) === undefined ? await openFileLock(path) : createFolderLock(path)
  try {
    return await work(lock)
  } finally {
    await lock.release()
  }
}

/** Nothing is ever written, so closing leaves no journal behind and needs no commit. */
async function openFileLock(path: string): Promise<Lock> {
  const database = await connect(path, 0)
  return {
    async take() {
      try {
        database.exec('BEGIN EXCLUSIVE')
        return true
      } catch (error) {
        if (isBusy(error)) return false
        throw error
      }
    },
    release: async () => database.close(),
  }
}
