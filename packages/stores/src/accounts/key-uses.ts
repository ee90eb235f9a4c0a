import type { Accounts } from '@sallyport/accounts'

/** Collects when keys were used. */
export interface KeyUses {
  /** Costs a map entry; nothing waits for the store. */
  used(id: string): void
  /** Writes down what is collected. */
  close(): Promise<void>
}

export interface KeyUsesOptions {
  /** Told when uses could not be written down; they are tried again with the next ones. */
  readonly onError?: (error: unknown) => void
  /** How long uses are collected before they are written down; five seconds unless told otherwise. */
  readonly everyMs?: number
}

const WRITE_EVERY_MS = 5_000

/** Writes down the last use of keys, all of some seconds in one statement. */
export function recordKeyUses(accounts: Accounts, { onError, everyMs = WRITE_EVERY_MS }: KeyUsesOptions = {}): KeyUses {
  let collected = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  async function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
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
