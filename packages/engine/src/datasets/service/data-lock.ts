/** A lock on a path that holds over all processes of a machine; the one who opens the data hands it in. */
export interface DataLock {
  /** Runs `task` when no other holder runs; `onWait` is called once where it has to wait, and `signal` ends the waiting. */
  readonly withLock: <T>(path: string, task: () => Promise<T>, options?: WaitOptions) => Promise<T>
  /** The same without waiting: `undefined` where another holder runs. */
  readonly withFreeLock: <T>(path: string, task: () => Promise<T>) => Promise<T | undefined>
}

interface WaitOptions {
  readonly onWait?: (() => void) | undefined
  readonly signal?: AbortSignal | undefined
}
