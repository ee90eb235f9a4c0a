import { withTimeout } from '#service'
import type { UserStore } from './user-store.ts'

/** Bounds the time of every question to a store, and reports an outage once: when it begins. */
export function createBoundedStore(store: UserStore, deadlineMs: number, onFault: (error: unknown) => void): UserStore {
  let isAway = false

  async function ask<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await withTimeout(work(), deadlineMs, () => {
        throw new Error(`The store of logins did not respond within ${deadlineMs} ms.`)
      })
      isAway = false
      return result
    } catch (error) {
      if (!isAway) onFault(error)
      isAway = true
      throw error
    }
  }

  return {
    read: (key) => ask(() => store.read(key)),
    replace: (...change) => ask(() => store.replace(...change)),
    erase: (key) => ask(() => store.erase(key)),
    close: store.close,
  }
}
