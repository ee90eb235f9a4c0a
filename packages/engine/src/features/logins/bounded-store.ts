import type { UserStore } from './user-store.ts'

/** Bounds the time of every question to a store, and reports an outage once: when it begins. */
export function createBoundedStore(store: UserStore, deadlineMs: number, onFault: (error: unknown) => void): UserStore {
  let isAway = false

  async function ask<Result>(work: () => Promise<Result>): Promise<Result> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const giveUp = () => reject(new Error(`The store of logins did not respond within ${deadlineMs} ms.`))
      // After a pause of the event loop, what waited for its turn comes first: the store was not away.
      timer = setTimeout(() => setImmediate(giveUp), deadlineMs)
    })
    try {
      const result = await Promise.race([work(), late])
      isAway = false
      return result
    } catch (error) {
      if (!isAway) onFault(error)
      isAway = true
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    read: (key) => ask(() => store.read(key)),
    replace: (...change) => ask(() => store.replace(...change)),
    erase: (key) => ask(() => store.erase(key)),
    close: store.close,
  }
}
