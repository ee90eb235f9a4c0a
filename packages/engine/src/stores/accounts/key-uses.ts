import type { Accounts } from '#accounts'

export interface KeyUses {
  /** Costs a map entry; it does not wait for the store. */
  used(id: string): void
  close(): Promise<void>
}

export interface KeyUsesOptions {
  /** Called when uses could not be stored; they are retried with the next ones. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** How long uses are collected before they are stored, in milliseconds; default 5000. */
  readonly everyMs?: number | undefined
}

const WRITE_EVERY_MS = 5_000

/** Stores the last uses of keys; one statement holds the uses of some seconds. */
export function recordKeyUses(accounts: Accounts, { onError, everyMs = WRITE_EVERY_MS }: KeyUsesOptions = {}): KeyUses {
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
      onError?.(error)
    }
  }

  return {
    used(id) {
      collected.set(id, Date.now())
      timer ??= setTimeout(() => void write(), everyMs).unref()
    },
    close: write,
  }
}
