import type { Accounts } from '#accounts'

/** How long uses are collected before they are stored. */
const WRITE_EVERY_MS = 5_000

/** Stores the last uses of keys. Uses that could not be stored, which `onError` learns, are retried with the next ones. */
export function recordKeyUses(accounts: Accounts, onError: (error: unknown) => void, everyMs = WRITE_EVERY_MS) {
  let collected = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  /** Writes follow one another: the store is closed behind the last, and of two the later must stay. */
  function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(writeCollected)
    return writing
  }

  async function writeCollected(): Promise<void> {
    const uses = collected
    if (uses.size === 0) return
    collected = new Map()
    try {
      await accounts.recordUses([...uses].map(([id, at]) => ({ id, at: new Date(at).toISOString() })))
    } catch (error) {
      collected = new Map([...uses, ...collected])
      onError(error)
    }
  }

  return {
    /** Costs a map entry; it does not wait for the store. */
    used(id: string): void {
      collected.set(id, Date.now())
      timer ??= setTimeout(() => void write(), everyMs).unref()
    },
    close: write,
  }
}
