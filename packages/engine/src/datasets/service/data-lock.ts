/** Locks a path over all processes of a machine; the caller that opens the data provides it. */
export interface DataLock {
  /** Runs `task` when no other holder runs; `onWait` is called once where it has to wait, and `signal` ends the waiting. */
  readonly withLock: <T>(path: string, task: () => Promise<T>, options?: WaitOptions) => Promise<T>
  /** Runs `task` without waiting, or returns `undefined` when another holder runs. */
  readonly withFreeLock: <T>(path: string, task: () => Promise<T>) => Promise<T | undefined>
}

interface WaitOptions {
  readonly onWait?: (() => void) | undefined
  readonly signal?: AbortSignal | undefined
}
